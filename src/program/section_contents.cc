#include "program/section_contents.h"

#include <algorithm>

#include "program/operands.h"

namespace diptych {

std::span<const Instruction> opcodes_of(const Program& program, int32_t address) {
  const auto first = static_cast<size_t>(address), end = static_cast<size_t>(program.instructions[first].p3);
  return std::span(program.instructions).subspan(first + 1, end - first - 1);
}

std::vector<size_t> columns_read(const Program& program, int32_t address) {
  std::vector<size_t> columns;
  for (const Instruction& instruction : opcodes_of(program, address)) {
    if (instruction.opcode == Opcode::Column || instruction.opcode == Opcode::Code)
      columns.push_back(static_cast<size_t>(instruction.p2));
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

bool fills(const Instruction& instruction, int32_t hash_table) {
  if (instruction.opcode == Opcode::Group) return instruction.p3 == hash_table;
  return instruction.opcode == Opcode::Aggregate && instruction.p1 == hash_table;
}

std::set<int32_t> tables_filled(const Program& program, int32_t address) {
  std::set<int32_t> tables;
  for (const Instruction& instruction : opcodes_of(program, address)) {
    if (instruction.opcode == Opcode::Aggregate) tables.insert(instruction.p1);
    if (instruction.opcode == Opcode::Group) tables.insert(instruction.p3);
  }
  return tables;
}

namespace {

template <typename Holds>
bool holds_outside(const Program& program, int32_t address, const Holds& holds) {
  const auto& instructions = program.instructions;
  const auto first = instructions.begin() + address;
  return std::any_of(instructions.begin(), first, holds) ||
         std::any_of(instructions.begin() + first->p3, instructions.end(), holds);
}

}  // namespace

bool shares_groups(const Program& program, int32_t address, int32_t hash_table) {
  return holds_outside(program, address, [&](const Instruction& other) { return fills(other, hash_table); });
}

bool shares_row_set(const Program& program, int32_t address, int32_t row_set) {
  return holds_outside(program, address,
                       [&](const Instruction& other) { return other.opcode == Opcode::Append && other.p1 == row_set; });
}

namespace {

bool has_opcode(const Program& program, int32_t address, Opcode opcode) {
  const auto opcodes = opcodes_of(program, address);
  return std::any_of(opcodes.begin(), opcodes.end(), [opcode](const Instruction& at) { return at.opcode == opcode; });
}

}  // namespace

namespace {

bool is_whole(PhysicalType physical) {
  return physical == PhysicalType::Int32 || physical == PhysicalType::Int64 || physical == PhysicalType::Int128;
}

// The column of the section's cursor whose values, integers, the register has; -1: it is another register.
int32_t column_in(const Program& program, std::span<const Instruction> opcodes, int32_t number) {
  if (!is_whole(program.registers[static_cast<size_t>(number)].physical)) return -1;
  const auto writes = [number](const Instruction& at) { return register_written(at) == number; };
  const auto writer = std::find_if(opcodes.begin(), opcodes.end(), writes);
  if (writer == opcodes.end() || std::find_if(writer + 1, opcodes.end(), writes) != opcodes.end()) return -1;
  switch (writer->opcode) {
    case Opcode::Column: return writer->p2;
    case Opcode::Move:
    case Opcode::Cast: return column_in(program, opcodes, writer->p2);  // of integers: their value stays
    default: return -1;
  }
}

}  // namespace

std::vector<ColumnAsKey> columns_as_keys(const Program& program, int32_t address) {
  std::vector<ColumnAsKey> found;
  const auto opcodes = opcodes_of(program, address);
  for (const Instruction& at : opcodes) {
    if (at.opcode != Opcode::Matches) continue;
    for (int32_t key = 0; key < program.indexes[static_cast<size_t>(at.p3)].keys; ++key) {
      const int32_t column = column_in(program, opcodes, at.p2 + key);
      if (column >= 0) found.push_back({at.p3, static_cast<size_t>(key), static_cast<size_t>(column)});
    }
  }
  return found;
}

bool meets_index(const Program& program, int32_t address) { return has_opcode(program, address, Opcode::Matches); }

std::set<int32_t> indexes_met(const Program& program, int32_t address) {
  std::set<int32_t> indexes;
  for (const Instruction& instruction : opcodes_of(program, address))
    if (instruction.opcode == Opcode::Matches) indexes.insert(instruction.p3);
  return indexes;
}

int32_t index_over(const Program& program, int32_t row_set) {
  for (size_t index = 0; index < program.indexes.size(); ++index)
    if (program.indexes[index].row_set == row_set) return static_cast<int32_t>(index);
  return -1;
}

bool writes_result(const Program& program, int32_t address) { return has_opcode(program, address, Opcode::Result); }

namespace {

bool feeds_an_index(const Program& program, int32_t address) {
  bool appends = false;
  for (const Instruction& at : opcodes_of(program, address)) {
    if (at.opcode == Opcode::Matches) return false;
    if (info_of(at.opcode).kind != OpcodeKind::Sink) continue;
    if (at.opcode != Opcode::Append || appends || index_over(program, at.p1) < 0) return false;
    if (shares_row_set(program, address, at.p1)) return false;
    appends = true;
  }
  return appends;
}

}  // namespace

std::vector<IndexFeeder> index_feeders(const Program& program, int32_t address) {
  std::vector<IndexFeeder> feeders;
  const Instruction* opened = nullptr;  // the last cursor before
  for (int32_t at = address; at >= 0 && opened == nullptr; --at)
    if (program.instructions[static_cast<size_t>(at)].opcode == Opcode::Table)
      opened = &program.instructions[static_cast<size_t>(at)];
  for (auto at = address; at < static_cast<int32_t>(program.instructions.size()); ++at) {
    const Instruction& instruction = program.instructions[static_cast<size_t>(at)];
    if (instruction.opcode == Opcode::Table) opened = &instruction;
    if (instruction.opcode != Opcode::Parallel) continue;
    if (opened == nullptr || opened->p1 != instruction.p1 || !feeds_an_index(program, at)) break;
    feeders.push_back({at, opened->p2});
    at = instruction.p3;
  }
  return feeders;
}

}  // namespace diptych
