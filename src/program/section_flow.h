// How rows can move through one parallel section: what every engine has to know before it can run or translate it.
//
//   Parallel
//    a  Lt .. c invalid      rows that jump to c become invalid; if nothing behind c makes rows valid, they are
//    finished b  ... c  Column               a target: rows that jumped here join those that came along
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace diptych {

// What happens to rows that take a jump.
struct JumpEffect {
  int target = -1;        // number of the address jumped to among the section's targets; -1: out of the section
  bool finishes = false;  // invalid rows that nothing can make valid again: they are forgotten
  bool makes_valid = false, makes_invalid = false;
  bool if_null = false;
};

struct SectionFlow {
  int32_t first = 0, end = 0;       // addresses [first, end); the Converge is at end
  std::vector<int32_t> targets;     // addresses jumped to, ascending
  std::vector<JumpEffect> effects;  // by address - first; of jumps and Invalid
  std::vector<bool> drops_invalid;  // by address - first: rows that arrive here invalid stay so: they are forgotten
  std::vector<uint8_t> writers;     // by register: how many opcodes write it (2: or more)
  std::vector<bool> constants;      // by register: one opcode writes it, the same value in all rows
  bool tracks_validity = false;     // a row may be made valid again
  int32_t last_sink = -1;           // address

  const JumpEffect& effect(int32_t address) const { return effects[static_cast<size_t>(address - first)]; }
  // Number among the targets, or -1.
  int target_number(int32_t address) const;
};

// Of the section behind the Parallel at `address`.
SectionFlow analyse_section(const Program& program, int32_t address);

// True for opcodes that give every row the same value.
bool is_constant_load(Opcode opcode);

}  // namespace diptych
