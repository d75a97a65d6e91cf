#include <gtest/gtest.h>

#include <tbb/task_arena.h>

#include "io/csv/csv_blocks.h"
#include "io/file_rows.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {
namespace {

using testing::error_of;
using testing::message_of;
using testing::put_file;
using testing::rows_of;
using testing::state_of;
using testing::type;
using Rows = std::vector<std::string>;

class CsvTest : public ::testing::Test {
 protected:
  Rows read(std::string_view text, const std::vector<ColumnDefinition>& fields) {
    put_file(files_, "x.csv", text);
    return rows_of(*open_data_file(files_, "x.csv", options_, fields));
  }
  std::optional<Error> error(std::string_view text, const std::vector<ColumnDefinition>& fields) {
    return error_of([&] { read(text, fields); });
  }
  Rows inspect(std::string_view text) {
    put_file(files_, "x.csv", text);
    Rows names;
    auto file = open_data_file(files_, "x.csv", options_);
    for (const ColumnDefinition& column : file->columns()) {
      names.push_back(column.name + " " + column.type.name());
    }
    return names;
  }

  MemoryFileSystem files_;
  FileOptions options_;
  std::vector<ColumnDefinition> two_{{"a", type(TypeId::Integer)}, {"b", type(TypeId::Text)}};
};

TEST_F(CsvTest, UnquotedEmptyIsNullAndQuotedEmptyIsEmpty) {
  EXPECT_EQ(read("1,\n,\"\"\n3,\"a,\"\"b\"\"\"\n", two_), (Rows{"1|<null>", "<null>|", "3|a,\"b\""}));
}

TEST_F(CsvTest, ANullStringCountsOnlyWithoutQuotes) {
  options_.null_string = "NULL";
  EXPECT_EQ(read("1,NULL\n2,\"NULL\"\n3,\n", two_), (Rows{"1|<null>", "2|NULL", "3|"}));
}

TEST_F(CsvTest, LinesEndInAnyWay) {
  EXPECT_EQ(read("1,x\r\n2,\"a\nb\"\r\n3,z", two_), (Rows{"1|x", "2|a\nb", "3|z"}));
  EXPECT_EQ(read("1,x\r2,\"a\rb\"\r3,z\r", two_), (Rows{"1|x", "2|a\rb", "3|z"}));
  EXPECT_EQ(read("", two_), Rows{});
}

TEST_F(CsvTest, AllLinesEndAsTheFirst) {
  for (std::string_view text :
       {"1,x\n2,y\r\n", "1,x\n2,y\r", "1,x\r\n2,y\n", "1,x\r\n2,y\r3,z\r\n", "1,x\r2,y\n", "1,x\r2,y\r\n"})
    EXPECT_EQ(state_of(error(text, two_)), SqlState::bad_copy_file_format) << text;
}

// COPY keeps it, as PostgreSQL does; who looks for types drops it.
TEST_F(CsvTest, AByteOrderMarkIsDroppedWhereTypesAreDetected) {
  const std::vector<ColumnDefinition> text{{"a", type(TypeId::Text)}};
  EXPECT_EQ(read("\xEF\xBB\xBFx\n", text), Rows{"\xEF\xBB\xBFx"});
  EXPECT_EQ(inspect("\xEF\xBB\xBFid,x\n1,2\n"), (Rows{"id bigint", "x bigint"}));
}

TEST_F(CsvTest, QuotesMayBeginAndEndAnywhereInAField) {
  EXPECT_EQ(read("1,a\"b\"c\n2, \"a\"\n3,\"a\"\"\"b\n\"4\",\"\"\"\"\"\"\n", two_),
            (Rows{"1|abc", "2| a", "3|a\"b", "4|\"\""}));
  EXPECT_EQ(read("1,\"a,\"\"b\"\",\"c\n", two_), Rows{"1|a,\"b\",c"});
  EXPECT_EQ(state_of(error("1,\"a\n", two_)), SqlState::bad_copy_file_format);
}

TEST_F(CsvTest, ABackslashAndAPointAloneOnALineEndTheData) {
  const std::vector<ColumnDefinition> text{{"a", type(TypeId::Text)}};
  EXPECT_EQ(read("x\n\\.\nignored \xff\n", text), Rows{"x"});
  EXPECT_EQ(read("\\.\nx\n", text), Rows{});
  EXPECT_EQ(read("x\r\n\\.\r\n\"", text), Rows{"x"});
  EXPECT_EQ(read("x\n\\.y\n \\.\n\\.", text), (Rows{"x", "\\.y", " \\.", "\\."}));
  EXPECT_EQ(read("\"\n\\.\n\"\n", text), Rows{"\n\\.\n"});
  EXPECT_EQ(state_of(error("x\n\\.\r\n", text)), SqlState::bad_copy_file_format);
}

TEST_F(CsvTest, BytesThatAreNoTextAreErrorsOfTheirRow) {
  using namespace std::string_view_literals;
  EXPECT_EQ(state_of(error("1,a\0b\n"sv, two_)), SqlState::character_not_in_repertoire);
  EXPECT_EQ(state_of(error("1,x\nq,y\n3,\xff\n", two_)), SqlState::invalid_text_representation);
  EXPECT_EQ(message_of(error("1,x\n2,ä\n3,\xc3\x28\n", two_)), "file 'x.csv', line 3: a text is not valid UTF-8");
}

// What is first in the text is told first, within a row and among rows.
TEST_F(CsvTest, TheFirstFailureCounts) {
  EXPECT_EQ(state_of(error("x\n1,a,b\n", two_)), SqlState::invalid_text_representation);
  EXPECT_EQ(state_of(error("x,a,b\n", two_)), SqlState::bad_copy_file_format);
  EXPECT_EQ(state_of(error("1,a\nx,a\n1\n", two_)), SqlState::invalid_text_representation);
}

TEST_F(CsvTest, EveryTypeMeansWhatPostgreSqlMeans) {
  std::vector<ColumnDefinition> fields{
      {"b", type(TypeId::Boolean)}, {"s", type(TypeId::SmallInt)}, {"n", Type::numeric(10, 2)},
      {"w", Type::numeric(38, 3)},  {"d", type(TypeId::Date)},     {"t", type(TypeId::Timestamp)},
      {"f", type(TypeId::Double)},  {"c", type(TypeId::Char, 5)},  {"v", type(TypeId::Varchar, 3)}};
  EXPECT_EQ(read("t,-32768,1.005,12345678901234567890.5,2024-02-29,2024-02-29 12:34:56.789,1e3,ab,abc\n"
                 "FALSE, 7 ,-.5,-1,infinity,2024-02-29T00:00:00,-Infinity,abcde  ,\"ab   \"\n"
                 "yes,+1,1e2,1e-3,20240229,1999-12-31 23:59:59,NaN,,\n",
                 fields),
            (Rows{"t|-32768|1.01|12345678901234567890.500|2024-02-29|2024-02-29 12:34:56.789|1000|ab   |abc",
                  "f|7|-0.50|-1.000|infinity|2024-02-29 00:00:00|-Infinity|abcde|ab ",
                  "t|1|100.00|0.001|2024-02-29|1999-12-31 23:59:59|NaN|<null>|<null>"}));
}

TEST_F(CsvTest, ABadValueIsNamedWithFileLineAndColumn) {
  std::optional<Error> bad = error("1,x\n2,y\nabc,z\n", two_);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->state(), SqlState::invalid_text_representation);
  EXPECT_EQ(bad->message(), "file 'x.csv', line 3, column \"a\": invalid input syntax for type integer: \"abc\"");
  EXPECT_EQ(state_of(error("99999999999,x\n", two_)), SqlState::numeric_value_out_of_range);
  EXPECT_EQ(state_of(error("2024-02-30\n", {{"d", type(TypeId::Date)}})), SqlState::datetime_field_overflow);
  EXPECT_EQ(state_of(error("yesterdayish\n", {{"d", type(TypeId::Date)}})), SqlState::invalid_datetime_format);
  EXPECT_EQ(state_of(error("1000\n", {{"n", Type::numeric(3, 0)}})), SqlState::numeric_value_out_of_range);
  EXPECT_EQ(state_of(error("abcd\n", {{"v", type(TypeId::Varchar, 3)}})), SqlState::string_data_right_truncation);
  EXPECT_EQ(state_of(error("1,\xff\n", two_)), SqlState::character_not_in_repertoire);
}

TEST_F(CsvTest, TheWrongNumberOfFieldsIsAnError) {
  std::optional<Error> bad = error("1,x\n2\n", two_);
  ASSERT_TRUE(bad);
  EXPECT_EQ(bad->state(), SqlState::bad_copy_file_format);
  EXPECT_EQ(bad->message(), "file 'x.csv', line 2: 1 fields, where 2 are wanted");
  EXPECT_EQ(state_of(error("1,x,y\n", two_)), SqlState::bad_copy_file_format);
  EXPECT_EQ(state_of(error("1,x\n\n", two_)), SqlState::bad_copy_file_format);
  EXPECT_EQ(message_of(error("1,\"x\n\ny\"\n\n2,z\n", two_)), "file 'x.csv', line 4: 1 fields, where 2 are wanted");
  EXPECT_EQ(state_of(error("\r\n1,x\r\n", two_)), SqlState::bad_copy_file_format);
  EXPECT_EQ(read("1\n\n", {{"a", type(TypeId::Integer)}}), (Rows{"1", "<null>"}));
  EXPECT_EQ(state_of(error_of([&] { open_data_file(files_, "missing.csv", options_, two_); })),
            SqlState::undefined_file);
}

TEST_F(CsvTest, AHeaderIsSkippedWhenToldOrWhenItHoldsTheNames) {
  EXPECT_EQ(read("A,b\n1,x\n", two_), Rows{"1|x"});
  options_.header = true;
  EXPECT_EQ(read("whatever,there\n1,x\n", two_), Rows{"1|x"});
  EXPECT_EQ(message_of(error("h,h\nq,x\n", two_)).substr(0, 20), "file 'x.csv', line 2");
  options_.header = false;
  EXPECT_EQ(state_of(error("a,b\n1,x\n", two_)), SqlState::invalid_text_representation);
}

TEST_F(CsvTest, DelimitersQuotesAndEscapesCanBeOthers) {
  options_.delimiter = '|';
  options_.quote = '\'';
  options_.escape = '\\';
  EXPECT_EQ(read("1|'it\\'s | x'\n2|y\n", two_), (Rows{"1|it's | x", "2|y"}));
  options_ = *options_for("lineitem.tbl");
  EXPECT_EQ(read("1|x|\n2|y|\n", two_), (Rows{"1|x", "2|y"}));
}

TEST_F(CsvTest, ColumnsCanBeChosen) {
  put_file(files_, "x.csv", "1,x\n2,y\n");
  auto file = open_data_file(files_, "x.csv", options_, two_);
  std::vector<size_t> wanted = {1};
  int64_t rows = 0;
  file->for_each_batch(wanted, [&](const RowBatch& batch) {
    ASSERT_EQ(batch.columns.size(), 1u);
    EXPECT_EQ(batch.columns[0].physical, PhysicalType::Text);
    rows += batch.rows;
  });
  EXPECT_EQ(rows, 2);
}

TEST_F(CsvTest, TypesAndNamesByInspection) {
  EXPECT_EQ(inspect("id,x,day,at,ok,name\n1,1.5,2024-01-01,2024-01-01 10:00:00,true,abc\n2,,,,,\n"),
            (Rows{"id bigint", "x double precision", "day date", "at timestamp without time zone", "ok boolean",
                  "name text"}));
  EXPECT_EQ(inspect("1,a\n2.5,b\n"), (Rows{"column0 double precision", "column1 text"}));
  EXPECT_EQ(inspect("a,a\n1,2\n"), (Rows{"column0 text", "column1 text"}));  // no distinct names: a row
  EXPECT_EQ(inspect(""), Rows{});
}

TEST_F(CsvTest, ATypeIsDetectedOnlyWhereItKeepsEveryField) {
  const auto type_with = [&](const std::string& first, const std::string& second) {
    return inspect("name\n" + first + "\n" + second + "\n").at(0);
  };
  for (const char* text : {"01234", "+4912345", "00", "1_000", "0x10", "12345678901234567890", "9007199254740993.x"})
    EXPECT_EQ(type_with("1", text), "name text") << text;
  for (const char* text : {"007.5", "+1.5", "-01.5", "1e", "9007199254740993", "1e999"})
    EXPECT_EQ(type_with("1.5", text), "name text") << text;
  for (const char* text : {"0", "-7", " 5", "9223372036854775807"})
    EXPECT_EQ(type_with("1", text), "name bigint") << text;
  for (const char* text : {"-0", "0.5", "-.5", "5.", "1e5", "1E-05", "NaN", "inf", "-Infinity"})
    EXPECT_EQ(type_with("1", text), "name double precision") << text;
  EXPECT_EQ(type_with("NaN", "inf"), "name text");
  for (const char* text : {"2024-01-01 10:00:00Z", "2024-01-01 10:00:00+02", "2024-01-01T10:00:00-07:30",
                           "2024-01-01 10:00:00 UTC", "2024-01-01 10:00:00.123456789", "2024-01-01"})
    EXPECT_EQ(type_with("2024-01-01 10:00", text), "name text") << text;
  EXPECT_EQ(type_with("2024-01-01 10:00", "2024-01-01T10:00:00.123456000"), "name timestamp without time zone");
  options_.all_text = true;
  EXPECT_EQ(type_with("1", "2"), "name text");
}

TEST_F(CsvTest, ALaterRowThatADetectedTypeDoesNotKeepIsAnError) {
  for (const char* last : {"01", "+1", "x", "1.5"}) {
    std::string text = "name\n";
    for (int i = 0; i < 400000; ++i) text += std::to_string(i) + "\n";
    put_file(files_, "x.csv", text + last + "\n");
    auto file = open_data_file(files_, "x.csv", options_);
    std::optional<Error> bad = error_of([&] { file->for_each_batch([](const RowBatch&) {}); });
    EXPECT_EQ(state_of(bad), SqlState::invalid_text_representation) << last;
    EXPECT_EQ(message_of(bad).substr(0, 40), "file 'x.csv', line 400002, column \"name\"") << last;
    EXPECT_NE(bad->hint(), "") << last;
  }
}

TEST_F(CsvTest, ASourceReadsTheFileWhenItsRowsAreAskedFor) {
  put_file(files_, "x.csv", "id,name\n1,a\n2,b\n");
  auto source = open_file_source(files_, "x.csv", options_);
  EXPECT_EQ(source->row_count(), 2);
  EXPECT_EQ(rows_of(*source), (Rows{"1|a", "2|b"}));
}

// Blocks end inside rows, quotes and multi-byte characters; the order of rows is kept on several threads.
TEST_F(CsvTest, LongFilesComeInOrder) {
  std::string text;
  Rows expected;
  for (int i = 0; i < 120000; ++i) {
    std::string value = i % 7 == 0 ? "line\nbreak, \"\"q\"\"" : "ä" + std::to_string(i * 31);
    text += std::to_string(i) + ",\"" + value + "\"\n";
    expected.push_back(std::to_string(i) + "|" + (i % 7 == 0 ? "line\nbreak, \"q\"" : value));
  }
  ASSERT_GT(text.size(), 2u << 20);
  for (int threads : {1, 4}) {
    tbb::task_arena arena(threads);
    EXPECT_EQ(arena.execute([&] { return read(text, two_); }), expected);
  }
  text += "x,y\n";
  EXPECT_EQ(message_of(error(text, two_)).substr(0, 25), "file 'x.csv', line 137144");  // 17143 rows take two lines
}

// gzip of "1,x\n2,y\n".
TEST_F(CsvTest, CompressedFilesAreRead) {
  constexpr std::string_view zipped(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x33\xd4\xa9\xe0\x32\xd2\xa9\xe4\x02\x00\x60\xec\xc4\xfc\x08\x00\x00"
      "\x00",
      28);
  put_file(files_, "x.csv.gz", zipped);
  EXPECT_EQ(rows_of(*open_data_file(files_, "x.csv.gz", options_, two_)), (Rows{"1|x", "2|y"}));
  put_file(files_, "x.csv.gz", zipped.substr(0, 15));
  EXPECT_EQ(state_of(error_of([&] { open_data_file(files_, "x.csv.gz", options_, two_); })),
            SqlState::bad_copy_file_format);
}

// Rows of 100 bytes behind one of `long_bytes`, in blocks of 64 bytes, with rows of at most 1000: "all" when the blocks
// have all bytes, else how many.
std::string bytes_of_blocks(MemoryFileSystem& files, size_t long_bytes, bool& has_row_ends) {
  std::string text = "a\n" + std::string(long_bytes, 'x') + "\n";
  for (int i = 0; i < 100; ++i) text += std::string(99, 'y') + "\n";
  put_file(files, "x.csv", text);
  CsvBlocks blocks(files.open("x.csv", OpenMode::Read), {}, false, {.block = 64, .most_row = 1000});
  std::string all;
  has_row_ends = true;
  for (bool is_last = false; !is_last && has_row_ends;) {
    const CsvBlock block = blocks.next();
    all += block.bytes;
    has_row_ends = block.has_row_end;
    is_last = block.last;
  }
  return all == text ? "all" : std::to_string(all.size()) + " of " + std::to_string(text.size());
}

TEST_F(CsvTest, BlocksGoOnBehindALongRow) {
  bool has_row_ends = false;
  for (size_t bytes = 0; bytes <= 1000; bytes += 9) {
    EXPECT_EQ(bytes_of_blocks(files_, bytes, has_row_ends), "all") << bytes;
    EXPECT_TRUE(has_row_ends) << bytes;
  }
  EXPECT_NE(bytes_of_blocks(files_, 20000, has_row_ends), "all");
  EXPECT_FALSE(has_row_ends);
}

// The block that has the end of the long row has grown past the 256 MiB that a row may have, with whole rows in it.
TEST_F(CsvTest, RowsBehindALongRowAreRead) {
  constexpr size_t megabyte = 1 << 20;
  std::string text = std::string(megabyte - 50000, 'x') + "\n" + std::string(150 * megabyte, 'y') + "\n";
  const std::string filler = std::string(megabyte, 'z') + "\n";
  for (int i = 0; i < 130; ++i) text += filler;
  put_file(files_, "x.csv", text);
  text = std::string();
  const std::vector<ColumnDefinition> one{{"a", type(TypeId::Text)}};
  const std::vector<size_t> wanted{0};
  int64_t rows = 0;
  open_data_file(files_, "x.csv", options_, one)->for_each_batch(wanted, [&](const RowBatch& batch) {
    rows += batch.rows;
  });
  EXPECT_EQ(rows, 132);
}

TEST_F(CsvTest, ABadCharacterBehindAReturnIsSeenBeforeTheRow) {
  // The first block ends before the quote, as no row ends behind it for long; the second row is empty.
  const std::string text = "a,b\r\r\xff\"" + std::string(2000000, 'x') + "\"";
  EXPECT_EQ(state_of(error(text, two_)), SqlState::character_not_in_repertoire);
  EXPECT_EQ(state_of(error("a,b\r\r \"" + std::string(2000000, 'x') + "\"", two_)), SqlState::bad_copy_file_format);
}

TEST_F(CsvTest, TheEndMarkerQuotesNothing) {
  options_.quote = options_.escape = '\\';
  for (const char* line_end : {"\n", "\r", "\r\n"})
    for (const char* rest : {"", "\\\n", "\\\r\n", "x"})
      EXPECT_EQ(read(std::string("\\.") + line_end + rest, two_), Rows()) << rest;
}

TEST_F(CsvTest, EveryFailingReadIsAnError) {
  put_file(files_, "x.csv", "1,x\n2,y\n");
  auto read_all = [&] { rows_of(*open_data_file(files_, "x.csv", options_, two_)); };
  files_.set_faults({});
  read_all();
  for (int64_t operation = 0, all = files_.operations(); operation < all; ++operation) {
    FaultPlan plan;
    plan.kind = FaultPlan::Kind::IoError;
    plan.at = operation;
    files_.set_faults(plan);
    std::optional<Error> error = error_of(read_all);
    ASSERT_TRUE(error) << operation;
    EXPECT_EQ(error->state(), SqlState::io_error);
  }
}

TEST_F(CsvTest, ASampleIsOfAllRows) {
  std::string text = "n,word,none\n";
  for (int i = 0; i < 100'000; ++i) text += std::to_string(i % 25'000) + ",w" + std::to_string(i % 4) + ",\n";
  put_file(files_, "x.csv", text);
  const auto source = open_file_source(files_, "x.csv", options_);
  EXPECT_EQ(source->statistics(), nullptr);
  const SourceStatistics* statistics = source->sampled_statistics();
  ASSERT_NE(statistics, nullptr);
  EXPECT_EQ(statistics, source->sampled_statistics());
  EXPECT_EQ(statistics->sampled_rows(), RowSample::most_rows);
  EXPECT_NEAR(statistics->different(0), 25'000, 5'000);
  EXPECT_NEAR(statistics->sorted(0)->find(12'500.0).below, 512, 60);
  EXPECT_EQ(statistics->sorted(2)->nulls(), RowSample::most_rows);
}

TEST_F(CsvTest, ASampleOfNoRowsIsEmpty) {
  for (const std::string_view text : {"", "a,b\n", "a,b\n1,x\n"}) {
    put_file(files_, "x.csv", text);
    options_.header = true;
    const auto source = open_file_source(files_, "x.csv", options_);
    EXPECT_EQ(source->sampled_statistics()->sampled_rows(), static_cast<size_t>(source->row_count())) << text;
  }
}

}  // namespace
}  // namespace diptych
