// Row sets sorted on every device there is, in every residency, compared with the CPU's.
#include "engine/gpu/sort/sort_sink.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "engine/device/device_list.h"
#include "engine/gpu/sort/dictionary_ranks.h"
#include "engine/program_maker.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu::sort_sinks {
namespace {

using diptych::testing::make_table;
using diptych::testing::ProgramMaker;
using diptych::testing::rows_of;

const Type integer = {TypeId::Integer}, bigint = {TypeId::BigInt}, text = {TypeId::Text}, real = {TypeId::Double};

using Rows = std::vector<std::vector<Value>>;

// Few values a column, so that there are equal keys; every seventh is NULL.
Rows random_rows(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto number = [&](int64_t below) { return static_cast<int64_t>(random() % static_cast<uint64_t>(below)); };
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    const auto or_null = [&](Value value) { return number(7) == 0 ? Value::null(value.type()) : value; };
    rows.push_back({or_null(Value::integer(static_cast<int32_t>(number(50) - 25))),
                    or_null(Value::string(text, "s" + std::to_string(number(40)))),
                    or_null(Value::float64(static_cast<double>(number(9)) - 4)),
                    Value::bigint(static_cast<int64_t>(i))});
  }
  return rows;
}

const std::vector<ColumnDefinition> columns = {{"a", integer}, {"t", text}, {"f", real}, {"n", bigint}};

// Sorts by the columns of the table in this order; the others are payload.
ProgramMaker sorting(const std::shared_ptr<const TabletSource>& table, const std::vector<int>& order,
                     std::vector<SortKeyInfo> keys, int64_t limit) {
  ProgramMaker maker(table);
  RowSetInfo info;
  for (int column : order) info.columns.push_back(maker.program().cursors[0].columns[static_cast<size_t>(column)]);
  info.keys = std::move(keys);
  info.limit = limit;
  const int sorted = maker.row_set(info);
  maker.parallel(0);
  const auto first = static_cast<int>(maker.program().registers.size());
  for (int column : order) maker.column(column);
  maker.emit(Opcode::Append, sorted, first, static_cast<int>(order.size()));
  maker.converge();
  const int cursor = maker.rows(sorted);
  maker.parallel(cursor);
  std::vector<int> registers;
  for (size_t i = 0; i < order.size(); ++i) registers.push_back(maker.column(static_cast<int>(i)));
  maker.result(registers);
  maker.converge();
  return maker;
}

int32_t first_section(const Program& program) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    if (program.instructions[i].opcode == Opcode::Parallel) return static_cast<int32_t>(i);
  }
  return -1;
}

class SortSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string none = "no usable device";
    for (const std::string& absent : list_.absent()) none += "; " + absent;
    for (const DeviceInfo& info : list_.infos()) {
      if (info.unusable.empty()) engines_.push_back(std::make_unique<GpuEngine>(*list_.find(info.id())));
    }
    if (engines_.empty()) GTEST_SKIP() << none;
    std::cout << "DIPTYCH_TEST_SEED=" << seed_ << "\n";
  }

  void agrees_with_cpu(ProgramMaker maker) {
    const Rows expected = maker.run(1);
    const auto program = maker.finish();
    const ExecutionContext context;
    for (const auto& engine : engines_) {
      for (const Residency residency : {Residency::Serial, Residency::Streamed, Residency::Mapped, Residency::Cached}) {
        if (residency == Residency::Mapped && !engine->device().info().can_map) continue;
        SCOPED_TRACE(engine->device().info().id() + " " + name_of(residency));
        std::string reason;
        const NeededTablets needed(program->cursors[0], *program->sources[0]);
        const SectionTask task{*program, first_section(*program), program->sources[0], -1, context, needed};
        const auto result = engine->run(task, residency, KernelChoice::Auto, reason);
        ASSERT_TRUE(result) << reason;
        EXPECT_EQ(rows_of(*result->appended.rows), expected);
      }
    }
  }

  void expect_refused(const Program& program, const std::string& why) {
    const ExecutionContext context;
    for (const auto& engine : engines_) {
      std::string reason;
      const NeededTablets needed(program.cursors[0], *program.sources[0]);
      const SectionTask task{program, first_section(program), program.sources[0], -1, context, needed};
      EXPECT_FALSE(engine->run(task, Residency::Serial, KernelChoice::Generated, reason));
      EXPECT_EQ(reason, why);
    }
  }

  DeviceList list_;
  std::vector<std::unique_ptr<GpuEngine>> engines_;
  const char* const given_ = std::getenv("DIPTYCH_TEST_SEED");
  const uint64_t seed_ = given_ != nullptr ? std::strtoull(given_, nullptr, 10) : std::random_device()();
};

TEST_F(SortSinkTest, KeysOfEveryKind) {
  const auto table = make_table(columns, random_rows(3000, seed_), 512);
  agrees_with_cpu(sorting(table, {1, 3}, {{true, true}}, -1));
  agrees_with_cpu(sorting(table, {2, 0, 3}, {{true, false}, {false, true}}, -1));
}

// A device fills a row set where one section appends to it; one that is not sorted, where all of its rows stay.
TEST_F(SortSinkTest, OtherRowSetsAreLeftToTheCpu) {
  const auto table = make_table(columns, random_rows(1000, seed_), 256);
  ProgramMaker cut = sorting(table, {3, 1}, {}, 10);
  expect_refused(*cut.finish(), "rows for a row set that is not sorted, of which some are left out");
  ProgramMaker twice(table);
  RowSetInfo info;
  info.columns = {twice.program().cursors[0].columns[0]};
  info.keys = {{false, false}};
  const int rows = twice.row_set(info);
  for (int i = 0; i < 2; ++i) {
    twice.parallel(0);
    twice.emit(Opcode::Append, rows, twice.column(0), 1);
    twice.converge();
  }
  expect_refused(*twice.finish(), "rows for a row set of several sections");
}

// Tablets enough for several batches, whose runs are merged where the limit allows.
TEST_F(SortSinkTest, LimitOverManyBatches) {
  for (const bool dictionaries : {true, false}) {
    const auto table = make_table(columns, random_rows(20000, seed_), 64, dictionaries);
    for (const int64_t limit : {0, 100, 9000}) agrees_with_cpu(sorting(table, {0, 1}, {{false, true}}, limit));
  }
}

TEST_F(SortSinkTest, NoRows) { agrees_with_cpu(sorting(make_table(columns, {}, 64), {0, 1, 3}, {{false, false}}, -1)); }

TEST_F(SortSinkTest, StringsOfNoDictionary) {
  const auto table = make_table(columns, random_rows(3000, seed_), 512, false);
  for (const bool descending : {false, true}) {
    agrees_with_cpu(sorting(table, {1, 3}, {{descending, false}}, -1));
    agrees_with_cpu(sorting(table, {0, 1, 2, 3}, {{false, true}, {descending, true}, {true, false}}, 700));
  }
}

// Strings that differ late, or only in their length, beside keys before and after them.
TEST_F(SortSinkTest, LongStringsOfNoDictionary) {
  const std::vector<ColumnDefinition> two = {{"a", text}, {"b", text}, {"n", bigint}};
  std::mt19937_64 random(seed_);
  const auto any = [&](size_t below) { return static_cast<size_t>(random() % below); };
  const auto string = [&] {
    if (any(9) == 0) return Value::null(text);
    std::string made(std::array<size_t, 8>{0, 3, 8, 9, 17, 64, 200, 1500}[any(8)], 'x');
    if (!made.empty() && any(2) == 0)
      made[any(2) == 0 ? made.size() - 1 : any(made.size())] = static_cast<char>(any(3));
    return Value::string(text, made + std::string(any(3), '\0') + (any(50) == 0 ? std::to_string(any(1000)) : ""));
  };
  for (const size_t count : {2U, 1500U}) {
    Rows rows;
    for (size_t i = 0; i < count; ++i) rows.push_back({string(), string(), Value::bigint(static_cast<int64_t>(i))});
    const auto table = make_table(two, rows, 512, false);
    agrees_with_cpu(sorting(table, {0, 1, 2}, {{false, false}, {true, true}}, -1));
    for (const int64_t limit : {10, 600}) {
      agrees_with_cpu(sorting(table, {1, 2}, {{true, false}}, limit));
      agrees_with_cpu(sorting(table, {0, 2}, {{false, true}, {true, false}}, limit));
    }
  }
}

TEST(DictionaryRanks, AreThoseOfTheStrings) {
  Dictionary dictionary;
  for (const char* string : {"SHIP", "AIR", "", "\xC3\xA9", "RAIL"}) dictionary.find_or_append(string);
  EXPECT_EQ(dictionary_ranks(dictionary), (std::vector<uint32_t>{3, 1, 0, 4, 2, 0}));
}

TEST(SortSinkKernel, CompilesForCuda) {
  diptych::testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  const auto table = make_table(columns, random_rows(100, 1), 64);
  const auto program = sorting(table, {1, 0, 2, 3}, {{false, false}, {true, true}, {false, true}}, -1).finish();
  SectionShape shape;
  shape.columns = {{0, Encoding::FrameOfReference, PhysicalType::Int32, 1, true, true},
                   {1, Encoding::Dictionary, PhysicalType::Text, 2, true, true},
                   {2, Encoding::Plain, PhysicalType::Float64, 8, true, true},
                   {3, Encoding::FrameOfReference, PhysicalType::Int64, 4, false, false}};
  const SectionKernel kernel = generate_section(*program, first_section(*program), shape);
  ASSERT_EQ(kernel.unsupported, "");
  EXPECT_EQ(kernel.sort_words, 6U);
  EXPECT_EQ(nvrtc.complaints(kernel.source.text(), "sm_90"), "");

  shape.columns[1].encoding = Encoding::Heap;
  const SectionKernel of_strings = generate_section(*program, first_section(*program), shape);
  ASSERT_EQ(of_strings.sort_texts.size(), 1U);
  EXPECT_EQ(of_strings.sort_texts[0].word, 1U);
  EXPECT_EQ(nvrtc.complaints(of_strings.source.text(), "sm_90"), "");
  EXPECT_EQ(nvrtc.complaints(SortKernels::text_of("dk_tie_rows").text(), "sm_90"), "");
}

}  // namespace
}  // namespace diptych::gpu::sort_sinks
