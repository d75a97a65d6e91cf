// The text that takes values and other states into the state of an aggregate, and that makes its result, for kernels
// that keep the states of groups as kernel/device/group_states.h has them.
#pragma once

#include <string>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/generator/kernel_writer.h"
#include "program/program.h"

namespace diptych::gpu {

// What a value of an aggregate of kind Exact adds to its sum (part 1) or its squares (the parts behind): a dk_u64,
// dk_i128 or dk_sum192 as the part says. value: a name, in the form `physical`.
std::string exact_addend(size_t part, StateKind kind, PhysicalType physical, const std::string& value);

class StateText {
 public:
  // space: "local" or "global", where the states are. The text uses `at`, the first word of the group's states.
  StateText(const GroupPlan& plan, const HashTableInfo& table, std::string space);

  // Notes that a value came for the aggregate, unless that is known.
  void note(KernelWriter& out, size_t number) const;
  // Takes a value into the aggregate's state. failure: the address that an error is noted with, in `failure`.
  // Of an interval it uses `row_number`.
  void update(KernelWriter& out, size_t number, PhysicalType physical, const std::string& value, int failure) const;
  // Adds the states of the same group from elsewhere, words `from[0]`, ... in private memory.
  void merge(KernelWriter& out, const std::string& from) const;
  // Declares `value`, the aggregate's result in register form, and `there`, whether it is not NULL, out of the words
  // s[0], ... of a group; errors as in update().
  void finish(KernelWriter& out, size_t number, int failure) const;

 private:
  void update_exact(KernelWriter& out, const StateLayout& state, PhysicalType physical, const std::string& value) const;
  void finish_exact(KernelWriter& out, size_t number, int failure) const;
  std::string lock() const;
  bool is_text(size_t number) const;

  const GroupPlan& plan_;
  const HashTableInfo& table_;
  const std::string space_, qualifier_;
};

}  // namespace diptych::gpu
