// libdiptych_cub.so, opened at run time: what nvcc has compiled ahead of time, the radix sort of NVIDIA's CUB and the
// interpreter.
//
// Looked for in this order: where DIPTYCH_CUB_LIBRARY says; beside the library or program that holds this code; where
// the system's loader looks. Without it, devices sort with the kernels of kernel/device/radix_sort.h, and
// NVRTC compiles the interpreter.
//
// Thread safety: calls on different queues may be made at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/device/cub/diptych_cub.h"
#include "engine/device/device.h"

namespace diptych {

// The two places of the pairs, n u64 keys and n u32 values each.
struct CubPairs {
  DeviceAddress keys[2];
  DeviceAddress values[2];
};

class CubLibrary {
 public:
  // nullptr when there is none, and then why, in `reason`.
  static std::unique_ptr<CubLibrary> open(std::string& reason);
  ~CubLibrary();
  CubLibrary(const CubLibrary&) = delete;
  CubLibrary& operator=(const CubLibrary&) = delete;

  const std::string& path() const { return path_; }

  // Device memory that a sort of so many rows takes beside the pairs. Errors: 58000 with CUDA's message.
  int64_t temporary_bytes(Queue& queue, uint32_t rows, int bits) const;
  // Queues a stable sort of the pairs in the first place by the lowest `bits` bits of their keys. Returns in which
  // place they will be. The queue is one of a CUDA device. Errors: 58000 with CUDA's message.
  int sort_pairs(Queue& queue, const CubPairs& pairs, uint32_t rows, int bits, DeviceAddress temporary,
                 int64_t temporary_bytes) const;
  // The machine code of a kernel's text, for as long as the library is open; nullptr: it has none of this text.
  const void* image_of(const std::string& text) const { return image_(text.data(), text.size()); }

 private:
  CubLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  bool find_functions(std::string& reason);
  void check(int error) const;

  void* handle_;
  std::string path_;
  diptych_cub_sort_pairs_function* sort_pairs_ = nullptr;
  diptych_cub_error_text_function* error_text_ = nullptr;
  diptych_cub_image_function* image_ = nullptr;
};

}  // namespace diptych
