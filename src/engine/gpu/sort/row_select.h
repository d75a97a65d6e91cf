// The rows whose keys are among the least: for a limit, so that few rows need sorting.
#pragma once

#include <cstdint>

#include "engine/device/device.h"
#include "engine/gpu/sort/sort_kernels.h"

namespace diptych::gpu {

struct SelectedRows {
  DeviceBuffer numbers;  // u32, ascending
  int64_t rows = 0;
};

// At least the `limit` rows that come first by their keys, which differ in their lowest `bits` bits only: all rows
// whose keys are not greater than one that is found by radix select, eleven bits a pass over the keys. It stops early,
// when the rows are few enough. Equal keys are all in or all out, so there may be as many as all rows. limit is in [1,
// rows]. Waits until it is done. Errors: 53200; 58000.
SelectedRows select_least(Device& device, const SortKernels& kernels, Queue& queue, DeviceAddress keys, int64_t rows,
                          int bits, int64_t limit);

}  // namespace diptych::gpu
