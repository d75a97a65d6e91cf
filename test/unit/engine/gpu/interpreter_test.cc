// The interpreter on every device there is, compared with the reference engine and the CPU; and that NVRTC compiles it.
#include "engine/gpu/interpreter/interpreter_text.h"

#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <vector>

#include "engine/device/device_list.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/interpreter/section_lowering.h"
#include "engine/random_program.h"
#include "engine/reference_engine.h"
#include "engine/rows/host_row_set.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu {
namespace {

using diptych::testing::compare_rows;
using diptych::testing::listing;
using diptych::testing::make_table;
using diptych::testing::ProgramMaker;
using diptych::testing::RandomProgram;
using diptych::testing::rows_of;

using Rows = std::vector<std::vector<Value>>;

const Type integer = {TypeId::Integer}, bigint = {TypeId::BigInt}, real = {TypeId::Real}, floating = {TypeId::Double},
           boolean = {TypeId::Boolean};

int32_t first_section(const Program& program) {
  int32_t address = 0;
  while (program.instructions[static_cast<size_t>(address)].opcode != Opcode::Parallel) ++address;
  return address;
}

Rows rows_of_result(const Program& program, const SectionResult& result) {
  std::vector<ColumnDefinition> columns;
  for (const ResultColumnInfo& column : program.result_columns) columns.push_back({column.name, column.type});
  HostRowSet rows(columns);
  for (const ResultPiece& piece : result.rows)
    rows.add(HostPiece{piece.rows.rows, piece.rows.views, {}, piece.rows.owner});
  return rows_of(rows);
}

class InterpreterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string none = "no usable device";
    for (const std::string& absent : list_.absent()) none += "; " + absent;
    for (const DeviceInfo& info : list_.infos()) {
      if (info.unusable.empty()) engines_.push_back(std::make_unique<GpuEngine>(*list_.find(info.id())));
    }
    if (engines_.empty()) GTEST_SKIP() << none;
  }

  // Nothing where the interpreter does not do it.
  static std::optional<SectionResult> run(GpuEngine& engine, const Program& program, Residency residency) {
    const int32_t address = first_section(program);
    const SectionShape shape = find_source_shape(program, address, *program.sources[0]);
    if (!interpret_section(program, address, shape).unsupported.empty()) return std::nullopt;
    const ExecutionContext context;
    const NeededTablets needed(program.cursors[0], *program.sources[0]);
    std::string reason;
    auto result = engine.run({program, address, program.sources[0], -1, context, needed}, residency,
                             KernelChoice::Interpreter, reason);
    EXPECT_TRUE(result.has_value()) << reason;
    if (result) {
      EXPECT_EQ(result->profile.kernel, "interpreter");
    }
    return result;
  }

  // Whether the interpreter does it.
  static bool check(GpuEngine& engine, uint64_t seed) {
    RandomProgram random(seed);
    const int64_t sizes[] = {0, 1, 63, 64, 65, 500, 1023, 1024, 1025, 3000};
    random.make_table(sizes[random.below(10)]);
    const int64_t tablet_sizes[] = {64, 1000, 2048, 65536};
    const auto program = random.make_program(tablet_sizes[random.below(4)]);
    const testing::ReferenceOutcome expected = testing::run_by_reference(*program, random.table());
    SCOPED_TRACE(::testing::Message() << engine.device().info().id() << ", seed " << seed << "\n" << listing(*program));
    try {
      const auto result = run(engine, *program, seed % 2 == 0 ? Residency::Serial : Residency::Cached);
      if (!result) return false;
      EXPECT_TRUE(expected.errors.empty()) << "an error was expected";
      compare_rows(rows_of_result(*program, *result), expected.rows);
    } catch (const Error& error) {
      EXPECT_TRUE(expected.errors.contains(error.state())) << error.what();
    }
    return true;
  }

  DeviceList list_;
  std::vector<std::unique_ptr<GpuEngine>> engines_;
};

TEST_F(InterpreterTest, RandomProgramsAgreeWithTheReference) {
  const char* given = std::getenv("DIPTYCH_TEST_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  for (const auto& engine : engines_) {
    int done = 0;
    for (uint64_t seed = first; seed < first + 400 && !HasFailure(); ++seed) done += check(*engine, seed);
    EXPECT_GT(done, 80);  // most of the others have strings
  }
}

// Every aggregate that has a state, over columns with and without NULLs, of few and of many rows.
TEST_F(InterpreterTest, TotalsAgreeWithTheCpu) {
  for (const int64_t count : {0, 1, 5000}) {
    Rows rows;
    for (int64_t i = 0; i < count; ++i) {
      const auto or_null = [&](Value value) { return i % 7 == 3 ? Value::null(value.type()) : value; };
      rows.push_back({or_null(Value::integer(static_cast<int32_t>(i % 1001 - 500))),
                      Value::bigint(i * 1'000'000'007 - 2'000'000'000'000), or_null(Value::float64(i / 4.0)),
                      Value::floating(real, static_cast<double>(i % 100)), or_null(Value::boolean(i % 3 != 0))});
    }
    ProgramMaker maker(
        make_table({{"a", integer}, {"b", bigint}, {"c", floating}, {"d", real}, {"e", boolean}}, rows, 1000));
    HashTableInfo table;
    std::vector<int> arguments;
    const auto add = [&](AggregateState state, int column, PhysicalType form, const Type& type) {
      AggregateInfo info{state, {}, {form, type, true}};
      if (column >= 0) info.argument = maker.program().cursors[0].columns[static_cast<size_t>(column)];
      table.aggregates.push_back(info);
      arguments.push_back(column);
    };
    using State = AggregateState;
    add(State::CountStar, -1, PhysicalType::Int64, bigint);
    add(State::Count, 0, PhysicalType::Int64, bigint);
    add(State::SumInt64, 0, PhysicalType::Int64, bigint);
    add(State::SumInt128, 1, PhysicalType::Int128, Type::numeric(38, 0));
    add(State::SumFloat64, 2, PhysicalType::Float64, floating);
    add(State::SumFloat64, 3, PhysicalType::Float64, floating);
    add(State::Min, 0, maker.program().cursors[0].columns[0].physical, integer);
    add(State::Max, 1, maker.program().cursors[0].columns[1].physical, bigint);
    add(State::Max, 2, PhysicalType::Float64, floating);
    add(State::BoolAnd, 4, PhysicalType::Bool, boolean);
    add(State::BoolOr, 4, PhysicalType::Bool, boolean);
    add(State::SumSquares, 0, PhysicalType::Int128, Type::numeric(38, 0));
    maker.program().hash_tables.push_back(table);
    maker.emit(Opcode::HashTable, 0);
    maker.parallel(0);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int argument = arguments[i] < 0 ? -1 : maker.column(arguments[i]);
      maker.emit(Opcode::Aggregate, 0, argument, -1, static_cast<int64_t>(i));
    }
    maker.converge();
    const int cursor = maker.groups(0);
    maker.parallel(cursor);
    std::vector<int> registers;
    for (size_t i = 0; i < table.aggregates.size(); ++i) registers.push_back(maker.column(static_cast<int>(i)));
    maker.result(registers);
    maker.converge();
    const Rows expected = maker.run(1);
    const auto program = maker.finish();
    for (const auto& engine : engines_) {
      const auto result = run(*engine, *program, Residency::Cached);
      ASSERT_TRUE(result.has_value());
      compare_rows(rows_of(*result->groups.at(0).rows), expected);
    }
  }
}

TEST(InterpreterText, CompilesForCuda) {
  testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  EXPECT_EQ(nvrtc.complaints(interpreter_text(false).text(), "sm_90"), "");
  EXPECT_EQ(nvrtc.complaints(interpreter_text(true).text(), "compute_90"), "");
}

}  // namespace
}  // namespace diptych::gpu
