// A parallel section made ready to run: each opcode resolved to a function for the types and operands it has there.
//
// Made once per run and shared by all threads, which keep what changes in their Frames.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/cpu/loops/loops.h"
#include "engine/cpu/register_places.h"
#include "engine/rows/row_mask.h"
#include "engine/run/prepared.h"
#include "program/program.h"
#include "program/section_flow.h"

namespace diptych::cpu {

class Frame;
struct Step;
struct Slot;

using StepFunction = void (*)(Frame& frame, const Step& step);
// Looks at active, non-null rows one by one and raises the error of the first that fails, if any does.
using RecheckFunction = void (*)(Frame& frame, const Step& step, const Slot& a, const Slot& b);

struct Step {
  StepFunction run = nullptr;
  const Instruction* instruction = nullptr;
  int out = -1, a = -1, b = -1;  // registers; a block starts at `a` and has `count`
  int count = 0;
  int arrivals = -1;           // number of this address among the targets, -1: nobody jumps here
  bool is_last_sink = false;   // the section's rows out are those that reach it
  bool drops_invalid = false;  // rows that arrive here invalid stay so: they are forgotten
  JumpEffect jump;
  bool negated = false;  // of comparisons
  int state = -1;        // number of its CodeComparison in the frame
  CompareLoop compare = nullptr, compare_equal = nullptr;
  BinaryLoop binary = nullptr;
  UnaryLoop unary = nullptr;
  OutsideLoop outside = nullptr;  // range check of the result, after the operation
  RecheckFunction recheck = nullptr;
  alignas(16) int128_t low = 0, high = 0;  // of that check, in the form of the register
  int32_t number = 0;                      // an operand that is an integer
  const PreparedSet* set = nullptr;
  const PreparedLookup* lookup = nullptr;
  Value constant;  // of opcodes that load one
  int32_t position() const { return instruction->position; }
};

// A Matches of the section.
struct MatchPoint {
  int32_t step = 0;       // that comes behind it
  std::vector<int> live;  // registers from before that are read behind it, none of a constant
};

struct Section {
  int32_t first = 0;  // address of the first step
  const CursorInfo* cursor = nullptr;
  std::vector<Step> steps;
  std::vector<int32_t> targets;  // step numbers of jump targets, ascending
  std::vector<size_t> columns;   // of the cursor, that the section reads
  std::vector<uint8_t> writers;  // by register: how many steps write it
  std::vector<bool> constants;   // by register: one step writes it, the same value in all rows
  // By register: one step loads it, from a column, and it stays encoded. Behind Matches none does.
  std::vector<bool> lazy_columns;
  std::vector<MatchPoint> matches;
  RegisterPlaces places;
  bool tracks_validity = false;  // a row may be made valid again
  int comparisons = 0;           // CodeComparisons that each frame needs
};

// Resolves the section behind the Parallel at `address`. `prepared` outlives the section.
Section prepare_section(const Program& program, int32_t address, const PreparedObjects& prepared);

// Resolvers for kinds of opcodes; each sets step.run and what it needs. step.instruction is set.
void resolve_load(const Program& program, Section& section, Step& step, const PreparedObjects& prepared);
void resolve_arithmetic(const Program& program, Step& step);
void resolve_division(const Program& program, Step& step);
void resolve_cast(const Program& program, Step& step);
void resolve_comparison(const Program& program, Section& section, Step& step);
void resolve_truth(const Program& program, Step& step, const PreparedObjects& prepared);
void resolve_call(const Program& program, Step& step);
void resolve_jump(Step& step);
void resolve_match(const Program& program, Section& section, Step& step);
void resolve_sink(Step& step);

// Sets the step's check of the result beyond the register's own width; check_range() then makes it.
void set_check(const Program& program, Step& step, Check check);
void check_range(Frame& frame, const Step& step, const Slot& out);

// True when the register holds the same value in all rows of the section.
bool is_constant(const Section& section, int number);

}  // namespace diptych::cpu
