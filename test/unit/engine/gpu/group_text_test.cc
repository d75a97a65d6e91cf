// Kernels of sections that group rows: how they find groups, and that NVRTC compiles their texts.
#include <gtest/gtest.h>

#include "engine/gpu/groups/group_kernels.h"
#include "engine/gpu/section_kernel.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu {
namespace {

RegisterInfo key_of(PhysicalType physical, bool nullable) { return {physical, Type{TypeId::BigInt}, nullable}; }

RegisterInfo key_between(int low, int high, bool nullable) {
  return {PhysicalType::Int32, Type{TypeId::Integer}, nullable, true, low, high};
}

AggregateInfo aggregate_of(AggregateState state, PhysicalType argument, PhysicalType result) {
  AggregateInfo info{state, {}, {}};
  info.argument.physical = argument;
  info.result.physical = result;
  return info;
}

// SELECT keys, aggregates over a table whose columns are the keys, then the aggregates' arguments. Without keys:
// totals. Then others, of all rows, into a second hash table.
class GroupProgram {
 public:
  GroupProgram(std::vector<RegisterInfo> keys, std::vector<AggregateInfo> aggregates,
               const std::vector<AggregateInfo>& totals = {}) {
    program.cursors.emplace_back();
    program.hash_tables.push_back({keys, aggregates, 0});
    if (!totals.empty()) program.hash_tables.push_back({{}, totals, 0});
    add(Opcode::Parallel, 0);
    for (const RegisterInfo& key : keys) load(key);
    int32_t group = -1;
    if (!keys.empty()) {
      group = static_cast<int32_t>(program.registers.size());
      program.registers.push_back({PhysicalType::Int32, Type{TypeId::Integer}, false});
      add(Opcode::Group, group);
    }
    add_aggregates(0, aggregates, group);
    add_aggregates(1, totals, -1);
    program.instructions[0].p3 = static_cast<int32_t>(program.instructions.size());
    add(Opcode::Converge);
    add(Opcode::Finish);
  }

  SectionKernel kernel() const { return generate_section(program, 0, shape); }

  Program program;
  SectionShape shape;

 private:
  void add(Opcode opcode, int32_t p1 = 0, int32_t p2 = 0, int32_t p3 = 0) {
    program.instructions.push_back({opcode, p1, p2, p3, {}, -1});
  }

  void add_aggregates(int32_t table, const std::vector<AggregateInfo>& aggregates, int32_t group) {
    for (size_t i = 0; i < aggregates.size(); ++i) {
      int32_t argument = -1;
      if (aggregates[i].state != AggregateState::CountStar) argument = load(aggregates[i].argument);
      add(Opcode::Aggregate, table, argument, group);
      program.instructions.back().p4 = static_cast<int64_t>(i);
    }
  }

  int32_t load(const RegisterInfo& info) {
    const auto number = static_cast<int32_t>(program.registers.size());
    const auto column = static_cast<int32_t>(shape.columns.size());
    program.registers.push_back(info);
    program.cursors[0].columns.push_back(info);
    program.instructions.push_back({Opcode::Column, number, column, 0, {}});
    ColumnShape& stored = shape.columns.emplace_back();
    stored.column = static_cast<size_t>(column);
    stored.physical = info.physical;
    stored.encoding = info.physical == PhysicalType::Text ? Encoding::Heap : Encoding::Plain;
    stored.has_nulls = info.nullable;
    return number;
  }
};

std::vector<AggregateInfo> all_aggregates() {
  using State = AggregateState;
  using Form = PhysicalType;
  return {aggregate_of(State::CountStar, Form::Int32, Form::Int64),
          aggregate_of(State::Count, Form::Int32, Form::Int64),
          aggregate_of(State::SumInt64, Form::Int32, Form::Int64),
          aggregate_of(State::SumInt128, Form::Int64, Form::Int128),
          aggregate_of(State::SumInt128, Form::Int128, Form::Int128),
          aggregate_of(State::SumFloat64, Form::Float32, Form::Float64),
          aggregate_of(State::Min, Form::Int64, Form::Int64),
          aggregate_of(State::Max, Form::Float64, Form::Float64),
          aggregate_of(State::Min, Form::Int128, Form::Int128),
          aggregate_of(State::Max, Form::Int128, Form::Int128),
          aggregate_of(State::BoolAnd, Form::Bool, Form::Bool),
          aggregate_of(State::VarianceFloat64, Form::Float64, Form::Float64),
          aggregate_of(State::SumSquares, Form::Int32, Form::Int128)};
}

std::vector<AggregateInfo> counts() {
  return {aggregate_of(AggregateState::CountStar, PhysicalType::Int32, PhysicalType::Int64)};
}

// What is wrong with the text, as far as can be seen here.
void expect_compiles(const SectionKernel& kernel) {
  ASSERT_EQ(kernel.unsupported, "");
  testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  EXPECT_EQ(nvrtc.complaints(kernel.source.text(), "sm_90"), "") << kernel.source.text();
}

// As racecheck wants it (platform.h), which few texts have to show.
void expect_compiles_with_races_checked(const std::string& text) {
  testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  EXPECT_EQ(nvrtc.complaints("#define DK_CHECKS_RACES\n" + text, "sm_90"), "") << text;
}

TEST(GroupText, FewGroupsLieInSharedMemory) {
  const SectionKernel kernel =
      GroupProgram({key_between(3, 5, true), key_between(0, 1, false)}, all_aggregates()).kernel();
  ASSERT_EQ(kernel.groups.size(), 1U);
  const GroupPlan& plan = kernel.groups[0];
  EXPECT_EQ(plan.place, GroupPlan::Place::Shared);
  EXPECT_EQ(plan.groups, 8);
  EXPECT_GT(plan.replicas, 1);
  EXPECT_EQ(plan.stride() % 2, 1U);
  expect_compiles(kernel);
  expect_compiles_with_races_checked(kernel.source.text());
}

TEST(GroupText, FewGroupsOfOneCountHaveAReplicaForEveryLane) {
  const SectionKernel kernel = GroupProgram({key_between(0, 6, false)}, counts()).kernel();
  EXPECT_EQ(kernel.groups[0].replicas, 32);
  EXPECT_EQ(kernel.groups[0].counting, 0);
  expect_compiles(kernel);
}

TEST(GroupText, ManyKnownGroupsLieInGlobalMemory) {
  const SectionKernel kernel = GroupProgram({key_between(-10000, 10000, true)}, all_aggregates()).kernel();
  EXPECT_EQ(kernel.groups[0].place, GroupPlan::Place::Dense);
  expect_compiles(kernel);
}

// The kernels behind the section's, in both sizes of work-groups.
void expect_group_kernels_compile(const GroupPlan& plan) {
  testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  for (const KernelText* kernel : {&plan.kernels->group, &plan.kernels->merge, &plan.kernels->show}) {
    const std::string usual = "#define DK_GROUP_SIZE 256\n";
    ASSERT_EQ(kernel->text().find(usual), 0U);
    for (const std::string& text :
         {kernel->text(), "#define DK_GROUP_SIZE 1024\n" + kernel->text().substr(usual.size())})
      EXPECT_EQ(nvrtc.complaints(text, "sm_90"), "") << text;
  }
}

TEST(GroupText, KeysOfEveryFormArePartitioned) {
  using Form = PhysicalType;
  std::vector<RegisterInfo> keys;
  for (Form form : {Form::Bool, Form::Int32, Form::Int64, Form::Int128, Form::Float32, Form::Float64})
    keys.push_back(key_of(form, form != Form::Int64));
  const SectionKernel kernel = GroupProgram(keys, all_aggregates()).kernel();
  EXPECT_EQ(kernel.groups[0].place, GroupPlan::Place::Partitioned);
  EXPECT_EQ(kernel.groups[0].key_words, 8U);
  expect_compiles(kernel);
  expect_group_kernels_compile(kernel.groups[0]);
  expect_compiles_with_races_checked(kernel.groups[0].kernels->group.text());
}

// Strings stand behind what else is compared, and where they are behind that.
TEST(GroupText, KeysThatAreStrings) {
  using Form = PhysicalType;
  const SectionKernel kernel =
      GroupProgram({key_of(Form::Text, true), key_of(Form::Int128, false), key_of(Form::Text, false)}, all_aggregates())
          .kernel();
  const GroupPlan& plan = kernel.groups[0];
  EXPECT_EQ(plan.place, GroupPlan::Place::Partitioned);
  EXPECT_EQ(plan.key_words, 7U);
  EXPECT_EQ(plan.compared_words, 5U);
  EXPECT_EQ(plan.strings, 2U);
  EXPECT_EQ(plan.keys[0].word, 3U);
  EXPECT_EQ(plan.keys[1].word, 1U);
  EXPECT_EQ(plan.keys[2].carried, 6U);
  expect_compiles(kernel);
  expect_group_kernels_compile(plan);
}

// More than the notes of one word of 32 bits.
TEST(GroupText, ManyAggregates) {
  std::vector<AggregateInfo> many;
  for (int i = 0; i < 4; ++i)
    for (const AggregateInfo& one : all_aggregates()) many.push_back(one);
  ASSERT_GT(many.size(), aggregates_noted);
  const SectionKernel kernel = GroupProgram({key_of(PhysicalType::Int64, true)}, many).kernel();
  EXPECT_EQ(kernel.groups[0].states.note_words, 3U);
  expect_compiles(kernel);
  expect_group_kernels_compile(kernel.groups[0]);
  expect_compiles(GroupProgram({key_between(0, 4000, false)}, many).kernel());
}

TEST(GroupText, WithoutAggregates) {
  const SectionKernel kernel = GroupProgram({key_of(PhysicalType::Int64, false)}, {}).kernel();
  expect_compiles(kernel);
  expect_group_kernels_compile(kernel.groups[0]);
  expect_compiles(GroupProgram({key_between(0, 1, false)}, {}).kernel());
}

// Compared by their span, and carried behind it.
TEST(GroupText, KeysThatAreIntervals) {
  using Form = PhysicalType;
  const SectionKernel kernel =
      GroupProgram({key_of(Form::Interval, true), key_of(Form::Text, false), key_of(Form::Interval, false)}, counts())
          .kernel();
  const GroupPlan& plan = kernel.groups[0];
  EXPECT_EQ(plan.compared_words, 6U);
  EXPECT_EQ(plan.key_words, 11U);
  EXPECT_EQ(plan.keys[1].carried, 6U);
  EXPECT_EQ(plan.keys[2].carried, 9U);
  expect_compiles(kernel);
  expect_group_kernels_compile(plan);
}

// Also where keys are few and known: no replica keeps addresses. Totals keep one state in the group's memory.
TEST(GroupText, ExtremesOfStringsAndIntervals) {
  using State = AggregateState;
  using Form = PhysicalType;
  const std::vector<AggregateInfo> extremes = {aggregate_of(State::Min, Form::Text, Form::Text),
                                               aggregate_of(State::Max, Form::Text, Form::Text),
                                               aggregate_of(State::Min, Form::Interval, Form::Interval),
                                               aggregate_of(State::Max, Form::Interval, Form::Interval)};
  for (const bool nullable : {false, true}) {
    std::vector<AggregateInfo> aggregates = extremes;
    for (AggregateInfo& aggregate : aggregates) aggregate.argument.nullable = nullable;
    const SectionKernel kernel = GroupProgram({key_between(0, 4, false)}, aggregates).kernel();
    EXPECT_EQ(kernel.groups[0].place, GroupPlan::Place::Partitioned);
    EXPECT_TRUE(kernel.groups[0].has_lock);
    expect_compiles(kernel);
    expect_group_kernels_compile(kernel.groups[0]);
    expect_compiles_with_races_checked(kernel.groups[0].kernels->group.text());
    const SectionKernel totals = GroupProgram({}, aggregates).kernel();
    EXPECT_EQ(totals.sink, SectionKernel::Sink::Totals);
    EXPECT_EQ(totals.partial_words, 1U + 2 * 4 + 2 * 5);
    expect_compiles(totals);
  }
}

// Of all rows, beside groups of every form: work-items keep their own states, as where there are no groups.
TEST(GroupText, TotalsOfStringsBesideGroups) {
  using State = AggregateState;
  using Form = PhysicalType;
  std::vector<AggregateInfo> totals = all_aggregates();
  totals.push_back(aggregate_of(State::Min, Form::Text, Form::Text));
  totals.push_back(aggregate_of(State::Max, Form::Interval, Form::Interval));
  const size_t words = GroupProgram({}, totals).kernel().partial_words;
  struct Case {
    RegisterInfo key;
    GroupPlan::Place place;
  };
  for (const Case& one : {Case{key_between(0, 4, true), GroupPlan::Place::Shared},
                          Case{key_between(0, 60000, false), GroupPlan::Place::Dense},
                          Case{key_of(PhysicalType::Int64, true), GroupPlan::Place::Partitioned}}) {
    for (const bool has_large_groups : {false, true}) {
      GroupProgram program({one.key}, counts(), totals);
      program.shape.has_large_groups = has_large_groups;
      const SectionKernel kernel = program.kernel();
      EXPECT_EQ(kernel.sink, SectionKernel::Sink::Groups);
      ASSERT_EQ(kernel.groups.size(), 1U);
      EXPECT_EQ(kernel.groups[0].hash_table, 0);
      EXPECT_EQ(kernel.groups[0].place, one.place);
      EXPECT_EQ(kernel.hash_table, 1);
      EXPECT_EQ(kernel.partial_words, words);
      expect_compiles(kernel);
    }
  }
}

// Of every width, in every form of groups. The second aggregate of a value has the state of the first.
TEST(GroupText, ExactDeviationsAndAverages) {
  using State = AggregateState;
  using Form = PhysicalType;
  for (const Form form : {Form::Int32, Form::Int64, Form::Int128}) {
    std::vector<AggregateInfo> aggregates = {
        aggregate_of(State::ExactAvg, form, Form::Int128), aggregate_of(State::ExactStddevSamp, form, Form::Int128),
        aggregate_of(State::ExactVarPop, form, Form::Int128), aggregate_of(State::ExactAvg, form, Form::Int128)};
    aggregates[1].same_argument = 0;
    for (AggregateInfo& one : aggregates)
      one.argument.type = Type{form == Form::Int32 ? TypeId::Integer : TypeId::BigInt};
    const StatesLayout layout = layout_states({{}, aggregates, 0});
    const size_t words = form == Form::Int32 ? 5 : form == Form::Int64 ? 6 : 10, sum = form == Form::Int128 ? 3 : 2;
    EXPECT_EQ(layout.words, 1 + 2 * words + 1 + sum);
    EXPECT_TRUE(layout.aggregates[1].is_repeated);
    EXPECT_FALSE(layout.aggregates[2].is_repeated);
    for (const std::vector<RegisterInfo>& keys :
         {std::vector{key_between(0, 4, false)}, std::vector{key_between(-10000, 10000, true)},
          std::vector{key_of(Form::Int64, true)}, std::vector<RegisterInfo>{}}) {
      const SectionKernel kernel = GroupProgram(keys, aggregates).kernel();
      expect_compiles(kernel);
      if (!kernel.groups.empty() && kernel.groups[0].place == GroupPlan::Place::Partitioned) {
        expect_group_kernels_compile(kernel.groups[0]);
        for (size_t i = 0; i < aggregates.size(); ++i)
          EXPECT_TRUE(is_nullable_result(kernel.groups[0], keys.size() + i));
      }
    }
  }
}

// What is proven to fit 64 bits has one word.
TEST(GroupText, ExactSumsOfFewRows) {
  AggregateInfo info = aggregate_of(AggregateState::ExactVarPop, PhysicalType::Int64, PhysicalType::Int128);
  info.argument = {PhysicalType::Int64, Type{TypeId::BigInt}, true, true, -1000000000, 1000};
  info.row_bound = 8;
  EXPECT_EQ(layout_states({{}, {info}, 0}).words, 4U);
  expect_compiles(GroupProgram({key_between(0, 4, false)}, {info}).kernel());
  expect_compiles(GroupProgram({}, {info}).kernel());
  const SectionKernel kernel = GroupProgram({key_of(PhysicalType::Int64, true)}, {info}).kernel();
  expect_compiles(kernel);
  expect_group_kernels_compile(kernel.groups[0]);
  info.row_bound = 10;
  EXPECT_EQ(layout_states({{}, {info}, 0}).words, 6U);
  info.row_bound = 10000000000;
  EXPECT_EQ(layout_states({{}, {info}, 0}).words, 7U);
}

// Ranges are parameters: the text is that of another range of about the same size.
TEST(GroupText, DoesNotDependOnTheRanges) {
  const SectionKernel a = GroupProgram({key_between(3, 7, false)}, counts()).kernel();
  const SectionKernel b = GroupProgram({key_between(-100, -93, false)}, counts()).kernel();
  EXPECT_EQ(a.source.text(), b.source.text());
}

}  // namespace
}  // namespace diptych::gpu
