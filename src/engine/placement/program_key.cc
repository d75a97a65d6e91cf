#include "engine/placement/program_key.h"

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

}  // namespace

// FNV-1a's step, a word at a time.
uint64_t mixed_key(uint64_t key, uint64_t word) { return (key ^ word) * 0x100000001B3U; }

uint64_t program_key(const Program& program, int32_t address) {
  uint64_t key = mixed_key(first_key, static_cast<uint64_t>(address));
  for (const auto& source : program.sources) key = with_tablets(key, *source);
  for (const Instruction& instruction : program.instructions) {
    key = mixed_key(key, static_cast<uint64_t>(instruction.opcode));
    for (const int32_t operand : {instruction.p1, instruction.p2, instruction.p3})
      key = mixed_key(key, static_cast<uint64_t>(operand));
    if (const auto* function = std::get_if<FunctionId>(&instruction.p4))
      key = mixed_key(key, static_cast<uint64_t>(*function));
  }
  return key;
}

}  // namespace diptych
