// Device memory for the strings that a section's kernel makes: upper(a), a || b.
//
// How many bytes they take is known when they are made. A kernel that finds too little room says how much it wanted,
// makes no more strings, and is launched again with that much; what it wrote otherwise is worth nothing then, failures
// included.
#pragma once

#include <cstdint>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

class TextRoom {
 public:
  // Room for strings of a usual length. Errors: 53200.
  void prepare(GpuEngine& engine, const SectionKernel& kernel, int64_t rows);
  // True when there was too little, and now there is more: the kernel is to be launched again. A string made of others
  // may be longer than it seemed where those had no room; so this happens at most once for each opcode that makes
  // strings. Errors: 53200.
  bool grow(GpuEngine& engine, const SectionKernel& kernel, const ControlBlock& control);

  DeviceAddress address() const { return buffer_.address(); }
  int64_t bytes() const { return buffer_.bytes(); }

 private:
  DeviceBuffer buffer_;
  int growths_ = 0;
};

}  // namespace diptych::gpu
