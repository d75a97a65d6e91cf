// The sections of a program as placement sees them, and what flows between them.
#include "engine/placement/program_facts.h"

#include <gtest/gtest.h>

#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::make_table;
using testing::NumberedTablets;
using testing::ProgramMaker;

const Type integer{TypeId::Integer}, bigint{TypeId::BigInt}, text{TypeId::Text};
const RegisterInfo count{PhysicalType::Int64, bigint, false};
constexpr int64_t table_rows = 8000;

std::shared_ptr<const TabletSource> table(int64_t count = table_rows) {
  std::vector<std::vector<Value>> rows;
  for (int i = 0; i < count; ++i) rows.push_back({Value::integer(i % 100), Value::text("a")});
  return std::make_shared<NumberedTablets>(make_table({{"a", integer}, {"t", text}}, rows, 1024, false));
}

// SELECT key, count(*) FROM table GROUP BY key ORDER BY 2 LIMIT limit
class GroupedProgram {
 public:
  explicit GroupedProgram(std::shared_ptr<const TabletSource> source) : maker_(std::move(source)) {
    RegisterInfo& a = maker_.program().cursors[0].columns[0];
    a.nullable = a.has_range = true;
    a.low = 0;
    a.high = 99;
  }

  ProgramFacts facts(int column, int64_t expected_groups, int64_t limit = -1, bool twice = false) {
    HashTableInfo groups;
    groups.keys = {maker_.program().cursors[0].columns[static_cast<size_t>(column)]};
    groups.aggregates = {{AggregateState::CountStar, {}, count}};
    groups.expected_groups = expected_groups;
    maker_.program().hash_tables.push_back(groups);
    fill(column);
    if (twice) fill(column);
    const int made = maker_.groups(0);
    const int row_set = maker_.row_set({{groups.keys[0], count}, {{}}, limit});
    maker_.parallel(made);
    const int key = maker_.column(0);
    maker_.column(1);
    maker_.emit(Opcode::Append, row_set, key, 2);
    maker_.converge();
    maker_.parallel(maker_.rows(row_set));
    const int first = maker_.column(0);
    maker_.result({first, maker_.column(1)});
    maker_.converge();
    return find_program_facts(*maker_.finish(), -1);
  }

 private:
  void fill(int column) {
    maker_.parallel(0);
    const int key = maker_.column(column), number = maker_.reg(integer);
    maker_.emit(Opcode::Group, number, key, 0);
    maker_.emit(Opcode::Aggregate, 0, -1, number, int64_t{0});
    maker_.converge();
  }

  ProgramMaker maker_;
};

TEST(ProgramFacts, SectionsOfOneChainHandObjectsOn) {
  const auto source = table();
  const ProgramFacts facts = GroupedProgram(source).facts(0, 500, 10);
  ASSERT_EQ(facts.sections.size(), 3U);
  EXPECT_EQ(facts.chains, 1U);
  EXPECT_EQ(facts.sections[0].table, 0U);
  EXPECT_EQ(facts.sections[0].facts.rows, table_rows);
  EXPECT_GT(facts.sections[0].facts.bytes, 0);
  EXPECT_EQ(facts.sections[0].columns, std::vector<size_t>{0});
  EXPECT_EQ(facts.sections[0].makes, std::vector<size_t>{0});
  EXPECT_FALSE(facts.sections[1].table.has_value());
  EXPECT_EQ(facts.sections[1].reads, 0U);
  EXPECT_EQ(facts.sections[1].facts.rows, 500);
  EXPECT_EQ(facts.sections[2].reads, 1U);
  EXPECT_EQ(facts.sections[2].facts.rows, 10) << "LIMIT";
  ASSERT_EQ(facts.objects.size(), 2U);
  EXPECT_TRUE(facts.objects[0].stays);
  EXPECT_FALSE(facts.objects[1].stays) << "sorted rows go to the host";
  EXPECT_GE(facts.objects[0].bytes, 500 * (4 + 8));
}

// Where the compiler has no estimate, the keys' bounds have one; strings have none.
TEST(ProgramFacts, ExpectedGroups) {
  struct Case {
    int column;
    int64_t expected_groups, groups;
  };
  for (const Case& one : {Case{0, 0, 101}, Case{0, 7, 7}, Case{0, 1'000'000, table_rows}, Case{1, 0, 1000}}) {
    const ProgramFacts facts = GroupedProgram(table()).facts(one.column, one.expected_groups);
    EXPECT_EQ(facts.objects[0].rows, one.groups) << one.column << " " << one.expected_groups;
  }
}

TEST(ProgramFacts, ManyGroupsAreMoreWork) {
  const auto work = [](int64_t groups) {
    return GroupedProgram(table()).facts(0, groups).sections[0].facts.work[static_cast<size_t>(WorkKind::Group)];
  };
  EXPECT_GT(work(table_rows), 2 * work(1));
}

TEST(ProgramFacts, WhatIsMadeHasASizeClass) {
  const auto size_class = [](int64_t groups) {
    const ProgramFacts facts = GroupedProgram(table()).facts(0, groups);
    EXPECT_EQ(facts.chains, 1);
    return size_class_of(facts, 0);
  };
  EXPECT_LT(size_class(10), size_class(40));
  EXPECT_LT(size_class(40), size_class(6400));
  EXPECT_EQ(size_class(10), size_class(12));
}

// Of rows that a limit leaves out few are sorted.
TEST(ProgramFacts, SortingWithALimitIsLessWork) {
  const auto sorted = [](int64_t limit) {
    return GroupedProgram(table()).facts(0, 8000, limit).sections[1].facts.work[static_cast<size_t>(WorkKind::Sort)];
  };
  EXPECT_EQ(sorted(-1), 8000);
  EXPECT_EQ(sorted(8000), 8000);
  EXPECT_LT(sorted(4000), 8000);
  EXPECT_LT(sorted(10), 100);
  EXPECT_GE(sorted(10), 10);
  EXPECT_EQ(sorted(0), 0);
}

TEST(ProgramFacts, SectionsThatFillOneTableAreOneChain) {
  const ProgramFacts facts = GroupedProgram(table()).facts(0, 500, -1, true);
  ASSERT_EQ(facts.sections.size(), 4U);
  EXPECT_EQ(facts.chains, 1U);
  EXPECT_EQ(facts.sections[1].makes, facts.sections[0].makes);
}

TEST(ProgramFacts, SectionsWithoutAnObjectInCommonAreSeveralChains) {
  ProgramMaker maker(table());
  maker.program().result_columns.push_back({"", integer});
  for (int i = 0; i < 2; ++i) {
    maker.parallel(0);
    maker.emit(Opcode::Result, maker.column(0), 1);
    maker.converge();
  }
  const ProgramFacts facts = find_program_facts(*maker.finish(), -1);
  EXPECT_EQ(facts.chains, 2U);
  EXPECT_NE(facts.sections[0].chain, facts.sections[1].chain);
}

// SELECT p.a FROM b JOIN p ON b.a = p.a
ProgramFacts facts_of_join(int64_t build_rows, int64_t probe_rows) {
  ProgramMaker maker(table(build_rows));
  const int row_set = maker.row_set({{{PhysicalType::Int32, integer, false}}, {}, -1});
  maker.program().indexes.push_back({row_set, 1});
  maker.parallel(0);
  maker.emit(Opcode::Append, row_set, maker.column(0), 1);
  maker.converge();
  maker.emit(Opcode::Build, 0, row_set);
  const auto probed = table(probe_rows);
  const int other = maker.table(probed);
  maker.parallel(other);
  const int key = maker.column(0), found = maker.reg(bigint);
  maker.emit(Opcode::Matches, found, key, 0);
  maker.result({key});
  maker.converge();
  return find_program_facts(*maker.finish(), -1);
}

TEST(ProgramFacts, AnIndexMakesOneChain) {
  const ProgramFacts facts = facts_of_join(table_rows, table_rows);
  ASSERT_EQ(facts.sections.size(), 2U);
  EXPECT_EQ(facts.chains, 1U);
  ASSERT_EQ(facts.sections[0].makes.size(), 1U);
  EXPECT_EQ(facts.sections[1].meets, facts.sections[0].makes);
  EXPECT_TRUE(facts.objects[facts.sections[0].makes[0]].stays);
  EXPECT_EQ(facts.sections[0].facts.work[static_cast<size_t>(WorkKind::Sort)], 0) << "they have no keys";
  EXPECT_EQ(facts.sections[1].table, 1U);
}

// A device is asked for what is joined with many rows, on either side.
TEST(ProgramFacts, FewRowsMayLeaveTheCpuWithMany) {
  struct Case {
    int64_t build_rows, probe_rows;
    bool may_leave;
  };
  for (const Case& one :
       {Case{100, 100, false}, Case{100, least_device_rows, true}, Case{least_device_rows, 100, true}})
    for (const PlacedSection& section : facts_of_join(one.build_rows, one.probe_rows).sections)
      EXPECT_EQ(section.may_leave_cpu, one.may_leave) << one.build_rows << " " << one.probe_rows;
}

// Rows that are no table's are read by the CPU.
TEST(ProgramFacts, RowsOfNoTable) {
  std::vector<std::vector<Value>> rows(10, {Value::integer(1), Value::text("a")});
  const auto source = make_table({{"a", integer}, {"t", text}}, rows, 1024, false);
  const ProgramFacts facts = GroupedProgram(source).facts(0, 5);
  EXPECT_FALSE(facts.sections[0].table.has_value());
  EXPECT_FALSE(facts.sections[0].reads);
}

}  // namespace
}  // namespace diptych
