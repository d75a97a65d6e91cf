// Values of parameters are put into a program, or refused.
#include "program/parameters.h"

#include <gtest/gtest.h>

#include "program/program.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

constexpr Type bigint{TypeId::BigInt}, text{TypeId::Text};

// Loads $1 as a bigint of 32 bits.
Program program_of(ParameterUse::Kind kind) {
  Program program;
  program.registers.push_back({PhysicalType::Int64, bigint, false, true, -100, 100});
  program.instructions.push_back({Opcode::Integer, 0, 5, 0, {}});
  program.parameters.uses.push_back({kind, 0, 0});
  return program;
}

TEST(Parameters, LoadsAreWhatConstantsWouldBe) {
  Program program = program_of(ParameterUse::Kind::Load);
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(-7)}));
  EXPECT_EQ(program.instructions[0].opcode, Opcode::Integer);
  EXPECT_EQ(program.instructions[0].p2, -7);
  EXPECT_EQ(program.registers[0].low, -100) << "what was proven of it is used elsewhere";
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(int64_t{1} << 40)}));
  EXPECT_EQ(program.instructions[0].opcode, Opcode::Constant);
  EXPECT_EQ(std::get<Value>(program.instructions[0].p4), Value::bigint(int64_t{1} << 40));
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(3)}));
  EXPECT_EQ(program.instructions[0].opcode, Opcode::Integer);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(program.instructions[0].p4));
}

TEST(Parameters, WhatIsOnlyComparedHasItsOwnRange) {
  Program program = program_of(ParameterUse::Kind::Compared);
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(9)}));
  EXPECT_EQ(program.registers[0].low, 9);
  EXPECT_EQ(program.registers[0].high, 9);
}

TEST(Parameters, FactsThatDoNotHoldLeaveTheProgramAsItIs) {
  Program program = program_of(ParameterUse::Kind::Load);
  program.parameters.facts = {{0, Range{-100, 100}, {}}, {1, {}, Value::text("a%")}};
  EXPECT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(100), Value::text("a%")}));
  EXPECT_FALSE(put_parameters(program, std::vector<Value>{Value::bigint(101), Value::text("a%")}));
  EXPECT_FALSE(put_parameters(program, std::vector<Value>{Value::bigint(1), Value::text("b%")}));
  EXPECT_EQ(program.instructions[0].p2, 100);
}

TEST(Parameters, MembersBoundsAndCodes) {
  Dictionary dictionary;
  dictionary.find_or_append("x");
  Program program = program_of(ParameterUse::Kind::Load);
  program.sets.push_back({PhysicalType::Text, {Value::text("a"), Value::text("b")}, false});
  program.cursors.emplace_back().zone_conditions.push_back({0, Opcode::Lt, Value::bigint(1)});
  program.registers.push_back({PhysicalType::Int32, Type{TypeId::Integer}, false, true, 0, 1});
  program.instructions.push_back({Opcode::Integer, 1, 0, 0, {}});
  program.parameters.uses = {{ParameterUse::Kind::Member, 1, 0, 1},
                             {ParameterUse::Kind::Zone, 0, 0, 0},
                             {ParameterUse::Kind::Code, 1, 1, 0, &dictionary, 1}};
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(8), Value::text("x")}));
  EXPECT_EQ(program.sets[0].values[1], Value::text("x"));
  EXPECT_EQ(program.cursors[0].zone_conditions[0].bound, Value::bigint(8));
  EXPECT_EQ(program.instructions[1].p2, 0);
  ASSERT_TRUE(put_parameters(program, std::vector<Value>{Value::bigint(8), Value::text("y")}));
  EXPECT_EQ(program.instructions[1].p2, 1) << "no row has it";
}

}  // namespace
}  // namespace diptych
