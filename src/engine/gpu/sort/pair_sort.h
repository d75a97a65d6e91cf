// Sorting pairs (u64 key, u32 row number) of one size over and over: by CUB, or by kernels that sort eight bits a pass.
#pragma once

#include <cstdint>

#include "engine/device/cub/cub_library.h"
#include "engine/device/device.h"
#include "engine/gpu/sort/sort_kernels.h"

namespace diptych::gpu {

class PairSort {
 public:
  // Both outlive it. cub: nullptr to sort with kernels. values: the row numbers, `rows` u32, when they are there
  // already. Errors: 53200.
  PairSort(Device& device, const SortKernels& kernels, const CubLibrary* cub, int64_t rows, DeviceBuffer values = {});

  // Where the pairs are.
  DeviceAddress keys() const { return keys_[at_].address(); }
  DeviceAddress values() const { return values_[at_].address(); }
  // Queues a stable sort by the lowest `bits` bits of the keys, those above being 0. The pairs may be elsewhere
  // afterwards. Errors: 53200; 58000.
  void sort(Queue& queue, int bits);
  // The row numbers; the last call.
  DeviceBuffer take_values() { return std::move(values_[at_]); }

 private:
  void sort_with_cub(Queue& queue, int bits);
  void sort_digit(Queue& queue, int shift);
  // As much as `bytes` of memory for one sort.
  DeviceAddress temporary(Queue& queue, int64_t bytes);

  Device& device_;
  const SortKernels& kernels_;
  const CubLibrary* cub_;
  int64_t rows_;
  DeviceBuffer keys_[2], values_[2];
  DeviceBuffer temporary_;
  int at_ = 0;
};

}  // namespace diptych::gpu
