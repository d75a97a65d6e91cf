// The groups of one hash table that one batch's kernel finds, where groups are numbered: their states in device memory,
// and on the host for NumberedGroups, which puts batches together.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// Groups as rows of words: the group's number, then its states as aggregate_state.h has them, of which the first has
// present_bit set.
struct GroupWords {
  std::vector<uint64_t> words;
  size_t row_words = 1;
  size_t count() const { return words.size() / row_words; }
};

// That all of a section's numbered groups may take on the device; where they would take more, they are partitioned.
int64_t most_dense_bytes(const Device& device);

class NumberedBatch {
 public:
  NumberedBatch(GpuEngine& engine, const GroupPlan& plan) : engine_(engine), plan_(plan), bytes_(plan.dense_bytes()) {}

  // Memory that says that there are no groups; a kernel is launched behind it. Errors: 53200.
  void prepare(Queue& queue);
  // The value of a parameter of kind Group of this table.
  uint64_t word(const KernelParameter& parameter) const;
  // Behind the kernel: lets the groups come.
  void ask(Queue& queue);
  // Once the queue is through: what has come.
  GroupWords read() const;

  const GroupPlan& plan() const { return plan_; }

 private:
  void append_states(const uint64_t* states, GroupWords& to) const;

  GpuEngine& engine_;
  const GroupPlan& plan_;
  const int64_t bytes_;
  DeviceBuffer buffer_;
  PinnedBuffer fetched_;
};

}  // namespace diptych::gpu
