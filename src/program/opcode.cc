#include "program/opcode.h"

#include <array>
#include <cstddef>

namespace diptych {

namespace {

constexpr std::array opcode_infos = {
#define DIPTYCH_OPCODE(name, kind, p1, p2, p3, p4, effect) \
  OpcodeInfo{#name, OpcodeKind::kind, {#p1, #p2, #p3, #p4}, effect},
#include "program/opcodes.def"
#undef DIPTYCH_OPCODE
};

constexpr bool every_opcode_is_described() {
  for (const OpcodeInfo& info : opcode_infos)
    if (info.effect[0] == '\0') return false;
  return true;
}
static_assert(every_opcode_is_described(), "an opcode in opcodes.def has no description");

}  // namespace

const OpcodeInfo& info_of(Opcode opcode) { return opcode_infos[static_cast<size_t>(opcode)]; }

int opcode_count() { return static_cast<int>(opcode_infos.size()); }

}  // namespace diptych
