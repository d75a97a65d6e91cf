// Rows of a batch that meet very many rows of an index: a team would be busy with one for longer than the device with
// all others. The section's kernel notes them in device memory (kernel/device/long_rows.h), and is launched again to
// share them out.
#pragma once

#include <cstdint>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

class LongRows {
 public:
  // Before a launch that notes rows: up to `room` of them. Errors: 53200.
  void clear(GpuEngine& engine, Queue& queue, int64_t room);
  // Whether the next launch goes through the noted rows, or through the tablets.
  void share(bool is_sharing) { is_sharing_ = is_sharing; }
  bool is_sharing() const { return is_sharing_; }
  // The value of a parameter of kind LongRows.
  uint64_t word(int32_t part) const;

 private:
  DeviceBuffer list_;
  int64_t room_ = 0;
  bool is_sharing_ = false;
};

}  // namespace diptych::gpu
