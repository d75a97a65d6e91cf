#include "program/idle_sections.h"

#include <algorithm>

#include "program/section_contents.h"

namespace diptych {
namespace {

class IdleSections {
 public:
  IdleSections(const Program& program, const std::set<int32_t>& empty_indexes)
      : program_(program), empty_(empty_indexes) {}

  bool is_idle(int32_t address) const {
    bool makes_any = false, is_wanted = false;
    for (const Instruction& at : opcodes_of(program_, address)) {
      if (at.opcode == Opcode::Matches && empty_.contains(at.p3)) return true;
      is_wanted = is_wanted || at.opcode == Opcode::Result;
      makes_any = makes_any || at.opcode == Opcode::Append || at.opcode == Opcode::Aggregate;
    }
    if (is_wanted || !makes_any) return false;
    for (const Instruction& at : opcodes_of(program_, address)) {
      if (at.opcode == Opcode::Append && !is_unread(at.p1)) return false;
      if (at.opcode == Opcode::Aggregate && !has_unread_groups(at.p1)) return false;
      if (at.opcode == Opcode::Group && !has_unread_groups(at.p3)) return false;
    }
    return true;
  }

 private:
  // Whether test(instruction) is true for all instructions of an opcode.
  template <typename Test>
  bool all_of(Opcode opcode, const Test& test) const {
    return std::all_of(program_.instructions.begin(), program_.instructions.end(),
                       [&](const Instruction& at) { return at.opcode != opcode || test(at); });
  }

  // Calls test(address) for all sections, until one fails.
  template <typename Test>
  bool all_sections(const Test& test) const {
    return all_of(Opcode::Parallel, [&](const Instruction& at) {
      return test(static_cast<int32_t>(&at - program_.instructions.data()));
    });
  }

  bool has_unread_groups(int32_t hash_table) const {
    return all_of(Opcode::Groups, [&](const Instruction& at) { return at.p2 != hash_table || is_unread(at.p1); });
  }

  bool is_unread(int32_t row_set) const {
    return all_of(Opcode::Build, [&](const Instruction& at) { return at.p2 != row_set || is_unmet(at.p1); }) &&
           all_of(Opcode::Rows, [&](const Instruction& at) { return at.p2 != row_set || is_unopened(at.p1); });
  }

  bool is_unmet(int32_t index) const {
    return all_sections([&](int32_t address) {
      const auto opcodes = opcodes_of(program_, address);
      const auto meets = [index](const Instruction& at) { return at.opcode == Opcode::Matches && at.p3 == index; };
      return std::none_of(opcodes.begin(), opcodes.end(), meets) || is_idle(address);
    });
  }

  bool is_unopened(int32_t cursor) const {
    return all_sections([&](int32_t address) {
      return program_.instructions[static_cast<size_t>(address)].p1 != cursor || is_idle(address);
    });
  }

  const Program& program_;
  const std::set<int32_t>& empty_;
};

}  // namespace

bool is_idle(const Program& program, int32_t address, const std::set<int32_t>& empty_indexes) {
  return !empty_indexes.empty() && IdleSections(program, empty_indexes).is_idle(address);
}

}  // namespace diptych
