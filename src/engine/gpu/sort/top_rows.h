// The first rows in the order of their words, where few are wanted: found by the device alone, so that the host need
// not wait before it queues what comes next (kernel/device/top_rows.h). It need not even know how many rows there are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/sort/sort_kernels.h"

namespace diptych::gpu {

struct TopInput {
  std::span<const DeviceAddress> words;  // as DeviceSort takes them
  DeviceAddress rows;                    // where a word says how many rows there are, ...
  int64_t most_rows = 0;                 // of which no more than these matter
};

class TopRows {
 public:
  static constexpr int64_t most_limit = 1024;
  static bool can_find(size_t words, int64_t limit);
  static void add_kernels(std::vector<KernelText>& always);

  // Queues everything. To stay until the queue is through. can_find(); most_rows of at least one and at most
  // DeviceSort::most_rows. Errors: 53200; 58000.
  TopRows(Device& device, const SortKernels& kernels, Queue& queue, const TopInput& input, int64_t limit);
  // For work that is queued behind: the numbers (u32) of the first `limit` rows; where there are fewer, 0s behind them.
  DeviceAddress order() const { return order_; }

 private:
  DeviceBuffer buffer_;
  DeviceAddress order_;
};

}  // namespace diptych::gpu
