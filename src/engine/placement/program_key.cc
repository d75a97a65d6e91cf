#include "engine/placement/program_key.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

namespace diptych {
namespace {

constexpr uint64_t first_key = 0xCBF29CE484222325U;

uint64_t with_tablets(uint64_t key, const TabletSource& source) {
  // A file has none, and would be read to say so.
  if (source.read_by_cpu() != nullptr) return key;
  key = mixed_key(key, source.tablet_count());
  if (source.tablet_count() == 0) return key;
  return mixed_key(mixed_key(key, source.tablet_id(0)), source.tablet_id(source.tablet_count() - 1));
}

// Its first bits, and how many there are.
uint64_t size_class(size_t count) {
  constexpr int first_bits = 3;
  const int bits = static_cast<int>(std::bit_width(count));
  return static_cast<uint64_t>(bits) << first_bits | count >> std::max(0, bits - first_bits);
}

uint64_t with_table(uint64_t key, const TabletSource& source) {
  if (source.read_by_cpu() != nullptr) return key;
  const size_t tablets = source.tablet_count();
  return mixed_key(mixed_key(key, size_class(tablets)), tablets > 0 ? source.tablet_id(0) : 0);
}

uint64_t with_opcodes(uint64_t key, const Program& program) {
  for (const Instruction& instruction : program.instructions) {
    // A literal is the second operand, or no operand at all.
    const bool is_literal = instruction.opcode == Opcode::Integer || instruction.opcode == Opcode::Constant;
    key = mixed_key(key, static_cast<uint64_t>(is_literal ? Opcode::Constant : instruction.opcode));
    for (const int32_t operand : {instruction.p1, is_literal ? 0 : instruction.p2, instruction.p3})
      key = mixed_key(key, static_cast<uint64_t>(operand));
    if (const auto* function = std::get_if<FunctionId>(&instruction.p4))
      key = mixed_key(key, static_cast<uint64_t>(*function));
  }
  for (const CursorInfo& cursor : program.cursors)
    for (const std::string& column : cursor.column_names) key = mixed_key(key, std::hash<std::string>()(column));
  for (const HashTableInfo& table : program.hash_tables)
    for (const AggregateInfo& aggregate : table.aggregates)
      key = mixed_key(key, static_cast<uint64_t>(aggregate.state));
  return key;
}

}  // namespace

// FNV-1a's step, a word at a time.
uint64_t mixed_key(uint64_t key, uint64_t word) { return (key ^ word) * 0x100000001B3U; }

uint64_t program_key(const Program& program, int32_t address) {
  uint64_t key = mixed_key(first_key, static_cast<uint64_t>(address));
  for (const auto& source : program.sources) key = with_tablets(key, *source);
  return with_opcodes(key, program);
}

uint64_t lasting_key(const Program& program) {
  uint64_t key = first_key;
  for (const auto& source : program.sources) key = with_table(key, *source);
  return with_opcodes(key, program);
}

}  // namespace diptych
