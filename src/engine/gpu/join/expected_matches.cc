#include "engine/gpu/join/expected_matches.h"

#include <algorithm>

namespace diptych::gpu {
namespace {

// One row of so many.
constexpr int64_t few = 8;

// Of a Matches; 0: unknown.
struct Expected {
  int64_t rows = 0;   // of the section
  int64_t asked = 0;  // that the one before has left
  int64_t left = 0;
};

// Calls visit(address, instruction, expected) for every Matches.
template <typename Visit>
void for_each_matches(const Program& program, Visit&& visit) {
  Expected expected;
  for (size_t address = 0; address < program.instructions.size(); ++address) {
    const Instruction& at = program.instructions[address];
    if (at.opcode == Opcode::Parallel)
      expected.rows = expected.left = program.cursors[static_cast<size_t>(at.p1)].expected_rows;
    if (at.opcode != Opcode::Matches) continue;
    expected.asked = expected.left;
    expected.left = program.indexes[static_cast<size_t>(at.p3)].expected_pairs;
    visit(static_cast<int32_t>(address), at, expected);
  }
}

}  // namespace

bool is_mostly_missed(const Program& program, int32_t index) {
  bool is_missed = false;
  for_each_matches(program, [&](int32_t, const Instruction& at, const Expected& expected) {
    if (at.p3 == index) is_missed = expected.left > 0 && expected.left < expected.asked / 2;
  });
  return is_missed;
}

bool leaves_few(const Program& program, int32_t address) {
  bool leaves = false;
  for_each_matches(program, [&](int32_t of, const Instruction&, const Expected& expected) {
    if (of == address) leaves = expected.left > 0 && expected.left < expected.rows / few;
  });
  return leaves;
}

bool few_reach_sinks(const Program& program, int32_t address) {
  const Instruction& parallel = program.instructions[static_cast<size_t>(address)];
  const CursorInfo& cursor = program.cursors[static_cast<size_t>(parallel.p1)];
  return cursor.expected_rows_out > 0 && cursor.expected_rows_out < cursor.expected_rows / few;
}

bool is_fetched(const Program& program, int32_t index) {
  return std::ranges::any_of(program.instructions,
                             [index](const Instruction& at) { return at.opcode == Opcode::Fetch && at.p3 == index; });
}

}  // namespace diptych::gpu
