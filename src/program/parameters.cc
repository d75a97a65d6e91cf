#include "program/parameters.h"

#include <algorithm>

#include "program/program.h"
#include "tablet/dictionary.h"

namespace diptych {

namespace {

bool holds(const ParameterFact& fact, std::span<const Value> values) {
  const Value& value = values[static_cast<size_t>(fact.parameter)];
  if (!fact.range) return value == fact.value;
  const int128_t number = value.as_integral();
  return Range{number, number}.within(*fact.range);
}

// In the form that a constant of this value has.
void put_load(Program& program, const ParameterUse& use, const Value& value) {
  Instruction& instruction = program.instructions[static_cast<size_t>(use.place)];
  RegisterInfo& loaded = program.registers[static_cast<size_t>(instruction.p1)];
  if (!loaded.has_range) {
    instruction.p4 = value;
    return;
  }
  const int128_t number = value.as_integral();
  if (use.kind == ParameterUse::Kind::Compared) loaded.low = loaded.high = number;
  put_integer(instruction, value);
}

void put_code(Program& program, const ParameterUse& use, const Value& value) {
  Instruction& instruction = program.instructions[static_cast<size_t>(use.place)];
  RegisterInfo& loaded = program.registers[static_cast<size_t>(instruction.p1)];
  instruction.p2 = static_cast<int32_t>(code_of(*use.dictionary, value.as_string(), use.no_code));
  loaded.low = loaded.high = instruction.p2;
}

}  // namespace

void put_integer(Instruction& load, const Value& value) {
  const int128_t number = value.as_integral();
  const bool is_small = Range{number, number}.within(int32_range);
  load.opcode = is_small ? Opcode::Integer : Opcode::Constant;
  load.p2 = is_small ? static_cast<int32_t>(number) : 0;
  if (is_small)
    load.p4 = std::monostate{};
  else
    load.p4 = value;
}

// The dictionary may have grown since: no row has what is new.
uint32_t code_of(const Dictionary& dictionary, const std::string& text, uint32_t no_code) {
  return std::min(dictionary.find(text).value_or(no_code), no_code);
}

bool put_parameters(Program& program, std::span<const Value> values) {
  const ParameterUses& parameters = program.parameters;
  if (!std::all_of(parameters.facts.begin(), parameters.facts.end(),
                   [&](const ParameterFact& fact) { return holds(fact, values); }))
    return false;
  for (const ParameterUse& use : parameters.uses) {
    const Value& value = values[static_cast<size_t>(use.parameter)];
    const auto place = static_cast<size_t>(use.place), member = static_cast<size_t>(use.member);
    switch (use.kind) {
      case ParameterUse::Kind::Load:
      case ParameterUse::Kind::Compared: put_load(program, use, value); break;
      case ParameterUse::Kind::Code: put_code(program, use, value); break;
      case ParameterUse::Kind::Member: program.sets[place].values[member] = value; break;
      case ParameterUse::Kind::Zone: program.cursors[place].zone_conditions[member].bound = value; break;
    }
  }
  return true;
}

}  // namespace diptych
