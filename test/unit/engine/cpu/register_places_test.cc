#include "engine/cpu/register_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/program_maker.h"
#include "engine/random_program.h"
#include "program/operands.h"

namespace diptych::cpu {
namespace {

const Type integer{TypeId::Integer};
const ColumnDefinition column{"a", integer};

int32_t parallel_of(const Program& program) {
  const auto& instructions = program.instructions;
  const auto at = std::find_if(instructions.begin(), instructions.end(),
                               [](const Instruction& one) { return one.opcode == Opcode::Parallel; });
  return static_cast<int32_t>(at - instructions.begin());
}

RegisterPlaces places_of(const Program& program) {
  return place_registers(program, analyse_section(program, parallel_of(program)));
}

int64_t shared_places(const RegisterPlaces& places) {
  return std::count_if(places.places.begin(), places.places.end(),
                       [](const RegisterPlace& place) { return !place.is_constant; });
}

// CASE WHEN a = 0 THEN a + 0 WHEN a = 1 THEN a + 1 ... END, with a column loaded for each arm.
TEST(RegisterPlaces, ManyArmsShareThePlacesOfOne) {
  for (const int arms : {2, 1000}) {
    testing::ProgramMaker maker(testing::make_table({column}, {{Value::integer(1)}}, 64));
    maker.parallel(0);
    const int tested = maker.column(0), result = maker.reg(integer);
    std::vector<int32_t> ends;
    for (int i = 0; i < arms; ++i) {
      const int constant = maker.constant(Value::integer(i));
      const int32_t next = maker.emit(Opcode::Neq, tested, constant, 0, int64_t{4});
      const int loaded = maker.column(0), sum = maker.reg(integer);
      maker.emit(Opcode::Add, sum, loaded, constant, Check::Register);
      maker.emit(Opcode::Move, result, sum);
      ends.push_back(maker.emit(Opcode::Jump, 0, 0, 0, int64_t{4}));
      maker.land(next);
    }
    maker.emit(Opcode::Move, result, tested);
    for (const int32_t end : ends) maker.land(end);
    maker.result({result});
    maker.converge();
    const RegisterPlaces places = places_of(*maker.finish());
    EXPECT_LE(shared_places(places), 5) << arms << " arms";
    EXPECT_EQ(static_cast<int64_t>(places.places.size()) - shared_places(places), arms) << "a place for each constant";
  }
}

TEST(RegisterPlaces, OperandsAndTheResultOfAnOpcodeAreApart) {
  testing::ProgramMaker maker(testing::make_table({column}, {{Value::integer(1)}}, 64));
  maker.parallel(0);
  const int a = maker.column(0), sum = maker.reg(integer);
  maker.emit(Opcode::Add, sum, a, a, Check::Register);
  maker.result({sum});
  maker.converge();
  const RegisterPlaces places = places_of(*maker.finish());
  EXPECT_NE(places.of_register[static_cast<size_t>(a)], places.of_register[static_cast<size_t>(sum)]);
}

// Of random programs: registers of one place have one physical type and are in use one after the other.
TEST(RegisterPlaces, NoTwoRegistersAreInAPlaceAtOnce) {
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomProgram generator(seed);
    generator.make_table(10);
    const auto program = generator.make_program(64);
    const int32_t parallel = parallel_of(*program);
    const RegisterPlaces places = places_of(*program);
    struct Life {
      int32_t first = -1, last = -1;
    };
    std::map<int32_t, Life> lives;  // by register
    for (int32_t at = parallel + 1; program->instructions[static_cast<size_t>(at)].opcode != Opcode::Converge; ++at) {
      const auto use = [&](int32_t number) {
        Life& life = lives[number];
        if (life.first < 0) life.first = at;
        life.last = at;
      };
      const Instruction& instruction = program->instructions[static_cast<size_t>(at)];
      for_each_register_read(*program, instruction, use);
      if (const int32_t out = register_written(instruction); out >= 0) use(out);
    }
    for (const auto& [number, life] : lives) {
      const int32_t place = places.of_register[static_cast<size_t>(number)];
      ASSERT_GE(place, 0);
      EXPECT_EQ(places.places[static_cast<size_t>(place)].physical,
                program->registers[static_cast<size_t>(number)].physical);
      for (const auto& [other, its] : lives) {
        if (other == number || places.of_register[static_cast<size_t>(other)] != place) continue;
        EXPECT_TRUE(its.last < life.first || life.last < its.first) << "r" << number << " and r" << other;
      }
    }
  }
}

}  // namespace
}  // namespace diptych::cpu
