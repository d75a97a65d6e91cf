#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/posix_file_system.h"
#include "io/data_writer.h"
#include "io/file_rows.h"
#include "tablet/memory_source.h"
#include "tablet/random_rows.h"

namespace diptych {
namespace {

using testing::error_of;
using testing::rows_of;
using testing::state_of;
using testing::type;
using Rows = std::vector<std::string>;

const std::filesystem::path suite = std::filesystem::path(DIPTYCH_SOURCE_DIR) / "../shared/suites/parquet";

// Reads a file both ways; nothing but an Error may come of it.
std::optional<Error> read_both_ways(const std::filesystem::path& path, size_t& rows) {
  PosixFileSystem files;
  FileOptions options = *options_for("x.parquet");
  return error_of([&] {
    rows = rows_of(*open_data_file(files, path, options)).size();
    EXPECT_EQ(rows_of(*open_file_source(files, path, options)).size(), rows) << path;
  });
}

TEST(Parquet, DamagedFilesAreErrors) {
  if (!std::filesystem::exists(suite)) GTEST_SKIP() << "no Parquet test files at " << suite;
  // Arrow reads this one: only its statistics are odd.
  const std::string readable = "ARROW-GH-43605.parquet";
  for (const auto& entry : std::filesystem::directory_iterator(suite / "bad_data")) {
    if (entry.path().extension() != ".parquet") continue;
    size_t rows = 0;
    std::optional<Error> error = read_both_ways(entry.path(), rows);
    if (entry.path().filename() == readable) continue;
    ASSERT_TRUE(error) << entry.path();
    EXPECT_TRUE(error->state() == SqlState::bad_copy_file_format || error->state() == SqlState::io_error ||
                error->state() == SqlState::feature_not_supported)
        << entry.path() << ": " << error->message();
    EXPECT_NE(error->message().find(entry.path().filename().string()), std::string::npos) << error->message();
  }
}

TEST(Parquet, GoodFilesAreRead) {
  if (!std::filesystem::exists(suite)) GTEST_SKIP() << "no Parquet test files at " << suite;
  const std::map<std::string, SqlState> refused = {
      {"datapage_v1-corrupt-checksum.parquet", SqlState::bad_copy_file_format},
      {"rle-dict-uncompressed-corrupt-checksum.parquet", SqlState::bad_copy_file_format},
      {"datapage_v2.snappy.parquet", SqlState::feature_not_supported},  // a list
      {"nulls.snappy.parquet", SqlState::feature_not_supported},        // a struct
  };
  for (const auto& entry : std::filesystem::directory_iterator(suite / "good")) {
    if (entry.path().extension() != ".parquet") continue;
    size_t rows = 0;
    std::optional<Error> error = read_both_ways(entry.path(), rows);
    auto expected = refused.find(entry.path().filename());
    if (expected != refused.end()) {
      ASSERT_TRUE(error) << entry.path();
      EXPECT_EQ(error->state(), expected->second) << error->message();
    } else {
      EXPECT_FALSE(error) << entry.path() << ": " << error->message();
      EXPECT_GT(rows, 0u) << entry.path();
    }
  }
}

TEST(Parquet, ValuesAreThoseOfTheCsvBesideThem) {
  if (!std::filesystem::exists(suite)) GTEST_SKIP() << "no Parquet test files at " << suite;
  PosixFileSystem files;
  for (const char* name : {"delta_binary_packed", "delta_byte_array", "delta_encoding_optional_column"}) {
    auto parquet = open_data_file(files, suite / "good" / (std::string(name) + ".parquet"), *options_for("x.parquet"));
    FileOptions csv;
    csv.header = true;
    auto expected =
        open_data_file(files, suite / "good" / (std::string(name) + "_expect.csv"), csv, parquet->columns());
    EXPECT_EQ(rows_of(*parquet), rows_of(*expected)) << name;
  }
}

// A source with a column of every type that Parquet has.
std::shared_ptr<MemorySource> make_source(uint64_t seed, int64_t rows) {
  std::mt19937_64 random(seed);
  std::vector<ColumnDefinition> columns;
  for (Type type : testing::every_type()) {
    if (type.id != TypeId::Interval) columns.push_back({"c" + std::to_string(columns.size()), type});
  }
  auto source = std::make_shared<MemorySource>(columns);
  std::vector<testing::RandomColumn> cells;
  std::vector<BatchColumn> views;
  for (const ColumnDefinition& column : columns) {
    cells.push_back(testing::random_column(random, column.type, testing::Spread::Wide, rows, 10));
  }
  for (const testing::RandomColumn& column : cells) views.push_back(column.batch());
  TabletBuilder builder(columns, 1024, source->new_dictionaries());
  for (int64_t taken = 0; taken < rows;) {
    taken += builder.append({rows, views}, taken, rows - taken);
    source->add(builder.finish());
  }
  return source;
}

class RoundTrip : public ::testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, WrittenRowsComeBack) {
  MemoryFileSystem files;
  FileOptions options = *options_for(GetParam());
  for (int64_t rows : {0, 1, 1000, 5000}) {
    auto source = make_source(static_cast<uint64_t>(rows), rows);
    EXPECT_EQ(write_data_file(files, GetParam(), options, *source), rows);
    auto file = open_data_file(files, GetParam(), options, source->columns());
    EXPECT_EQ(rows_of(*file), rows_of(*source));
  }
}

TEST_P(RoundTrip, AFailedWriteLeavesNoFile) {
  auto source = make_source(3, 100);
  FileOptions options = *options_for(GetParam());
  MemoryFileSystem files;
  files.set_faults({});
  write_data_file(files, GetParam(), options, *source);
  int64_t all = files.operations();
  std::vector<std::byte> whole = files.contents(GetParam());
  for (int64_t operation = 0; operation < all; ++operation) {
    MemoryFileSystem failing;
    FaultPlan plan;
    plan.kind = operation % 2 == 0 ? FaultPlan::Kind::IoError : FaultPlan::Kind::DiskFull;
    plan.at = operation;
    failing.set_faults(plan);
    std::optional<Error> error = error_of([&] { write_data_file(failing, GetParam(), options, *source); });
    if (failing.exists(GetParam())) {
      EXPECT_EQ(failing.contents(GetParam()), whole) << operation;
    } else {
      EXPECT_TRUE(error) << operation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, ::testing::Values("x.csv", "x.parquet", "x.tsv"));

TEST(Parquet, ColumnsAreConvertedWhereSqlAssigns) {
  MemoryFileSystem files;
  FileOptions options = *options_for("x.parquet");
  testing::put_file(files, "x.csv", "7,1.25,2024-02-29,abc\n,,,\n-300,-7.75,1999-12-31,de\n");
  std::vector<ColumnDefinition> from{
      {"a", type(TypeId::BigInt)}, {"b", Type::numeric(10, 2)}, {"c", type(TypeId::Date)}, {"d", type(TypeId::Text)}};
  auto csv = open_data_file(files, "x.csv", {}, from);
  MemorySource source(from);
  csv->for_each_batch([&](const RowBatch& batch) {
    TabletBuilder builder(from, 64, source.new_dictionaries());
    builder.append(batch, 0, batch.rows);
    source.add(builder.finish());
  });
  write_data_file(files, "x.parquet", options, source);
  std::vector<ColumnDefinition> to{{"a", Type::numeric(38, 1)},
                                   {"b", type(TypeId::Integer)},
                                   {"c", type(TypeId::Timestamp)},
                                   {"d", type(TypeId::Char, 3)}};
  EXPECT_EQ(
      rows_of(*open_data_file(files, "x.parquet", options, to)),
      (Rows{"7.0|1|2024-02-29 00:00:00|abc", "<null>|<null>|<null>|<null>", "-300.0|-8|1999-12-31 00:00:00|de "}));
  to[0].type = type(TypeId::SmallInt);
  to[1].type = type(TypeId::Double);
  EXPECT_EQ(rows_of(*open_data_file(files, "x.parquet", options, to))[2], "-300|-7.75|1999-12-31 00:00:00|de ");
  to[1].type = Type::numeric(2, 2);
  EXPECT_EQ(state_of(error_of([&] { rows_of(*open_data_file(files, "x.parquet", options, to)); })),
            SqlState::numeric_value_out_of_range);
  to[1].type = type(TypeId::Date);
  EXPECT_EQ(state_of(error_of([&] { open_data_file(files, "x.parquet", options, to); })), SqlState::datatype_mismatch);
  to.pop_back();
  EXPECT_EQ(state_of(error_of([&] { open_data_file(files, "x.parquet", options, to); })),
            SqlState::bad_copy_file_format);
}

TEST(Parquet, StatisticsGiveBounds) {
  MemoryFileSystem files;
  auto source = make_source(5, 3000);
  write_data_file(files, "x.parquet", *options_for("x.parquet"), *source);
  auto file = open_file_source(files, "x.parquet", *options_for("x.parquet"));
  ASSERT_EQ(file->tablet_count(), 1u);
  for (size_t column = 0; column < source->columns().size(); ++column) {
    ZoneMap expected, found = file->zone_map(0, column);
    for (size_t tablet = 0; tablet < source->tablet_count(); ++tablet) {
      ZoneMap zone = source->zone_map(tablet, column);
      expected.low = tablet == 0 || zone.low < expected.low ? zone.low : expected.low;
      expected.high = tablet == 0 || zone.high > expected.high ? zone.high : expected.high;
    }
    EXPECT_EQ(found.null_count, -1) << "what is claimed of NULLs proves nothing";
    const Type& type = source->columns()[column].type;
    EXPECT_EQ(found.has_bounds, type.is_temporal() || (type.is_number() && !type.is_float())) << type.name();
    if (found.has_bounds) {
      EXPECT_TRUE(found.low == expected.low && found.high == expected.high) << type.name();
    }
  }
}

}  // namespace
}  // namespace diptych
