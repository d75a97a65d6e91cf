#include "engine/run/shared_section.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tablet/values.h"

namespace diptych {
namespace {

const Type big_integer{TypeId::BigInt}, floating{TypeId::Double};

RegisterInfo form(PhysicalType physical, const Type& type) { return {physical, type}; }

// A program of one section with the sink.
Program program_with(Opcode sink, int32_t p1, int32_t p2, int32_t p3, decltype(Instruction::p4) p4 = {}) {
  Program program;
  program.instructions = {{Opcode::Parallel, 0, 0, 2, {}}, {sink, p1, p2, p3, p4}, {Opcode::Converge, 0, 0, 0, {}}};
  program.hash_tables.emplace_back();
  return program;
}

Program totals_of(std::vector<AggregateInfo> aggregates) {
  Program program = program_with(Opcode::Aggregate, 0, 0, -1, int64_t{0});
  program.hash_tables[0].aggregates = std::move(aggregates);
  return program;
}

AggregateInfo aggregate(AggregateState state, PhysicalType physical, const Type& type) {
  return {state, form(physical, type), form(physical, type)};
}

TEST(SharedSection, WhatCanBeShared) {
  const auto shared = [](const AggregateInfo& one) { return can_share(totals_of({one}), 0, -1); };
  EXPECT_TRUE(shared(aggregate(AggregateState::CountStar, PhysicalType::Int64, big_integer)));
  EXPECT_TRUE(shared(aggregate(AggregateState::Min, PhysicalType::Int32, big_integer)));
  EXPECT_FALSE(shared(aggregate(AggregateState::Max, PhysicalType::Text, Type{TypeId::Text})));
  EXPECT_TRUE(shared(aggregate(AggregateState::SumInt128, PhysicalType::Int64, big_integer)));
  EXPECT_FALSE(shared(aggregate(AggregateState::SumInt128, PhysicalType::Int128, big_integer)));
  EXPECT_FALSE(shared(aggregate(AggregateState::VarianceFloat64, PhysicalType::Float64, floating)));
  EXPECT_FALSE(shared(aggregate(AggregateState::SumSquares, PhysicalType::Int128, big_integer)));
  const Program rows = program_with(Opcode::Result, 0, 1, 0);
  EXPECT_TRUE(can_share(rows, 0, -1));
  EXPECT_FALSE(can_share(rows, 0, 10)) << "LIMIT";
  EXPECT_FALSE(can_share(program_with(Opcode::Group, 0, 0, 0), 0, -1));
  EXPECT_FALSE(can_share(program_with(Opcode::Append, 0, 0, 1), 0, -1));
}

// Of two parts with one value each.
Value added(AggregateState state, PhysicalType physical, const Type& type, const Value& a, const Value& b) {
  const Program program = totals_of({aggregate(state, physical, type)});
  const auto part = [&](const Value& value) { return make_value_source({{"", type}}, {value}, 1); };
  const auto whole = add_totals(program, 0, *part(a), *part(b), Memory());
  EXPECT_EQ(whole->row_count(), 1);
  const std::vector<size_t> all = {0};
  return value_at(whole->pin(0, all)->views[0], type, 0);
}

TEST(SharedSection, TotalsAreAddedUp) {
  const auto floats = [](AggregateState state, double a, double b) {
    return added(state, PhysicalType::Float64, floating, Value::float64(a), Value::float64(b)).as_double();
  };
  EXPECT_EQ(floats(AggregateState::SumFloat64, 1.5, 2), 3.5);
  EXPECT_EQ(floats(AggregateState::Min, 1.5, std::nan("")), 1.5) << "NaN is the greatest";
  EXPECT_TRUE(std::isnan(floats(AggregateState::Max, 1.5, std::nan(""))));
  EXPECT_EQ(floats(AggregateState::SumFloat64, INFINITY, 1), INFINITY);
  EXPECT_THROW(floats(AggregateState::SumFloat64, 1.7e308, 1.7e308), Error);
  const Value null = Value::null(floating), two = Value::float64(2);
  for (const auto& [a, b] : {std::pair(null, two), std::pair(two, null)})
    EXPECT_EQ(added(AggregateState::SumFloat64, PhysicalType::Float64, floating, a, b).as_double(), 2);
  EXPECT_TRUE(added(AggregateState::Max, PhysicalType::Float64, floating, null, null).is_null());
}

}  // namespace
}  // namespace diptych
