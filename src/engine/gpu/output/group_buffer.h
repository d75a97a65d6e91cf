// The groups of one hash table that one batch's kernel finds, in device memory.
//
//   |control: groups, overflow|slots' states|keys|states of the groups|        the first three only where groups are
//   hashed
#pragma once

#include <cstdint>
#include <vector>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// Groups as rows of words: the key's (or the group's number), then its states as aggregate_state.h has them, of which
// the first has present_bit set.
struct GroupWords {
  std::vector<uint64_t> words;
  size_t key_words = 1, row_words = 1;
  size_t count() const { return words.size() / row_words; }
};

class GroupBuffer {
 public:
  // rows: how many may come.
  GroupBuffer(GpuEngine& engine, const GroupPlan& plan, int64_t rows, int64_t expected_groups);

  // Memory that says that there are no groups; a kernel is launched behind it. Errors: 53200.
  void prepare(Queue& queue);
  // The value of a parameter of kind Group of this table.
  uint64_t word(const KernelParameter& parameter) const;
  // After the kernel: asks for the control words, which are there once the queue is through.
  void ask_control(Queue& queue);
  // There were more groups than room; makes more of it, and the kernel has to run again.
  bool grow();
  // Waits for the queue.
  GroupWords read(Queue& queue) const;

  const GroupPlan& plan() const { return plan_; }

 private:
  void lay_out();
  bool is_hashed() const { return plan_.place == GroupPlan::Place::Hashed; }
  uint64_t groups_found() const { return reinterpret_cast<const uint64_t*>(control_.data())[0]; }
  bool has_overflown() const { return reinterpret_cast<const uint64_t*>(control_.data())[1] != 0; }
  void append_states(const uint64_t* states, GroupWords& to) const;
  void read_hashed(const std::byte* memory, GroupWords& to) const;
  void read_numbered(const std::byte* memory, GroupWords& to) const;

  GpuEngine& engine_;
  const GroupPlan& plan_;
  int64_t slots_ = 0;  // Hashed: a power of two; else the groups
  int64_t keys_at_ = 0, states_at_ = 0, bytes_ = 0;
  DeviceBuffer buffer_;
  PinnedBuffer control_;  // as ask_control() has brought it
};

}  // namespace diptych::gpu
