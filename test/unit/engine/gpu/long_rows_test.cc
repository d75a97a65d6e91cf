// Kernels of sections whose rows may meet very many of an index: which ones share such rows out, and that NVRTC
// compiles their texts.
#include <gtest/gtest.h>

#include "engine/gpu/generator/generated_kernels.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu {
namespace {

// SELECT count(*), sum(m.v), sum(p.u) FROM p JOIN m ON p.k = m.k, in groups by p.k or without; or m.v of the rows.
class JoinProgram {
 public:
  enum class Sink : uint8_t { Totals, NumberedGroups, Groups, Result };

  explicit JoinProgram(Sink sink) {
    RegisterInfo key{PhysicalType::Int32, integer, true};
    if (sink == Sink::NumberedGroups) key = {PhysicalType::Int32, integer, true, true, 0, 20};
    program.cursors.emplace_back().columns = {key, value};
    program.row_sets.push_back({{key, value}, {}, -1});
    program.indexes.push_back({0, 1});
    program.registers = {
        key, {PhysicalType::Int64, bigint, false}, value, {PhysicalType::Int32, integer, false}, value};
    for (size_t i = 0; i < 2; ++i) shape.columns.push_back({.column = i, .width = 4, .has_nulls = true});
    shape.indexes.push_back({.is_dense = true, .is_unique = false, .is_fetched = true, .has_nulls = {false, true}});
    add(Opcode::Parallel, 0);
    add(Opcode::Column, 0, 0);
    add(Opcode::Matches, 1, 0, 0);
    add(Opcode::Fetch, 2, 1, 0, int64_t{1});
    add(Opcode::Column, 4, 1);
    add_sink(sink, key);
    program.instructions[0].p3 = static_cast<int32_t>(program.instructions.size());
    add(Opcode::Converge);
    add(Opcode::Finish);
  }

  SectionKernel kernel(bool has_long_lists = true) {
    shape.indexes[0].has_long_lists = has_long_lists;
    return generate_section(program, 0, shape);
  }

  SectionSignature signature() const { return section_signature(program, 0, shape); }

  SectionShape shape;

 private:
  void add(Opcode opcode, int32_t p1 = 0, int32_t p2 = 0, int32_t p3 = 0, decltype(Instruction::p4) p4 = {}) {
    program.instructions.push_back({opcode, p1, p2, p3, std::move(p4)});
  }

  void add_sink(Sink sink, const RegisterInfo& key) {
    if (sink == Sink::Result) {
      program.result_columns.push_back({"v", integer});
      return add(Opcode::Result, 2, 1);
    }
    const AggregateInfo sum{AggregateState::SumInt64, value, count};
    program.hash_tables.push_back({{}, {{AggregateState::CountStar, {}, count}, sum, sum}, 0});
    if (sink != Sink::Totals) {
      program.hash_tables[0].keys = {key};
      add(Opcode::Group, 3, 0, 0);
    }
    const int32_t group = sink == Sink::Totals ? -1 : 3;
    add(Opcode::Aggregate, 0, -1, group, int64_t{0});
    add(Opcode::Aggregate, 0, 2, group, int64_t{1});
    add(Opcode::Aggregate, 0, 4, group, int64_t{2});
  }

  Program program;
  const Type integer{TypeId::Integer}, bigint{TypeId::BigInt};
  const RegisterInfo value{PhysicalType::Int32, integer, true}, count{PhysicalType::Int64, bigint, false};
};

using Sink = JoinProgram::Sink;

TEST(LongRows, AreSharedOutWhereTheSinkNeedsNoOrder) {
  for (const Sink sink : {Sink::Totals, Sink::NumberedGroups, Sink::Groups}) {
    SCOPED_TRACE(static_cast<int>(sink));
    const SectionKernel kernel = JoinProgram(sink).kernel();
    ASSERT_EQ(kernel.unsupported, "");
    EXPECT_TRUE(kernel.shares_rows);
    EXPECT_NE(kernel.source.text().find("dk_note_long_row(long_rows"), std::string::npos);
  }
  EXPECT_FALSE(JoinProgram(Sink::Result).kernel().shares_rows);
}

// Ordinary joins have the text that they would have without.
TEST(LongRows, TakeNothingWhereThereAreNone) {
  for (const Sink sink : {Sink::Totals, Sink::NumberedGroups, Sink::Groups}) {
    const SectionKernel kernel = JoinProgram(sink).kernel(false);
    EXPECT_FALSE(kernel.shares_rows);
    EXPECT_EQ(kernel.source.text().find("is_sharing"), std::string::npos);
  }
}

TEST(LongRows, HaveKernelsOfTheirOwn) {
  JoinProgram join(Sink::Totals);
  const SectionSignature without = join.signature();
  join.shape.indexes[0].has_long_lists = true;
  EXPECT_NE(join.signature(), without);
}

TEST(LongRows, CompileForCuda) {
  testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no libnvrtc";
  for (const Sink sink : {Sink::Totals, Sink::NumberedGroups, Sink::Groups})
    EXPECT_EQ(nvrtc.complaints(JoinProgram(sink).kernel().source.text(), "sm_90"), "") << static_cast<int>(sink);
}

}  // namespace
}  // namespace diptych::gpu
