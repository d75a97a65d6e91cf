// A few words that a kernel writes and the host reads once the queue is through.
//
//   a device on a bus whose kernels can write pinned memory   they lie there, and nothing is copied: a copy would wait
//                                                             behind the rows of other batches, one after the other
//   another                                                   they lie on the device, and ask() copies them
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/gpu/gpu_engine.h"

namespace diptych::gpu {

class ReportBuffer {
 public:
  // Errors: 53200.
  void allocate(GpuEngine& engine, int64_t bytes, const char* what);
  // For the kernel.
  DeviceAddress address() const { return device_.bytes() > 0 ? device_.address() : pinned_.address(); }
  // Behind the kernel; what it has written over the bus itself is counted.
  void ask(Queue& queue);
  const uint64_t* words() const { return reinterpret_cast<const uint64_t*>(pinned_.data()); }

 private:
  PinnedBuffer pinned_;
  DeviceBuffer device_;  // where kernels do not write pinned memory
};

}  // namespace diptych::gpu
