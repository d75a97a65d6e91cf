// Opcodes that hand rows on. What they hand them to belongs to the frame's thread.
#include "base/error.h"
#include "engine/cpu/frame.h"
#include "engine/cpu/group_table.h"
#include "engine/cpu/row_writer.h"
#include "engine/cpu/sort_run.h"
#include "engine/cpu/step.h"

namespace diptych::cpu {
namespace {

void count_rows_out(Frame& frame, const Step& step) {
  if (step.is_last_sink) frame.rows_out += frame.sinking().count();
}

// The last sink where the groups alone are wanted (DISTINCT).
void group(Frame& frame, const Step& step) {
  frame.groups[static_cast<size_t>(step.number)]->group(frame, step.a);
  count_rows_out(frame, step);
}

void aggregate(Frame& frame, const Step& step) {
  frame.groups[static_cast<size_t>(step.instruction->p1)]->aggregate(frame, step.number, step.a, step.b >= 0);
  count_rows_out(frame, step);
}

void append(Frame& frame, const Step& step) {
  const auto row_set = static_cast<size_t>(step.number);
  if (frame.sort_runs[row_set] != nullptr)
    frame.sort_runs[row_set]->add(frame, step.a);
  else
    frame.row_writers[row_set]->write(frame);
  count_rows_out(frame, step);
}

void result(Frame& frame, const Step&) { frame.rows_out += frame.result->write(frame); }

}  // namespace

void resolve_sink(Step& step) {
  const Instruction& instruction = *step.instruction;
  switch (instruction.opcode) {
    case Opcode::Group:
      step.a = instruction.p2;
      step.number = instruction.p3;
      step.run = &group;
      return;
    case Opcode::Aggregate:
      step.a = instruction.p2;
      step.b = instruction.p3;
      step.number = static_cast<int32_t>(std::get<int64_t>(instruction.p4));
      step.run = &aggregate;
      return;
    case Opcode::Append:
      step.a = instruction.p2;
      step.number = instruction.p1;
      step.run = &append;
      return;
    default: step.a = instruction.p1; step.run = &result;
  }
}

}  // namespace diptych::cpu
