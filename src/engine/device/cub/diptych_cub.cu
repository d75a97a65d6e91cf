// Radix sort of cub::DeviceRadixSort: "onesweep" (Adinets, Merrill: Onesweep: A Faster Least Significant Digit Radix
// Sort for GPUs, 2022).
#include "engine/device/cub/diptych_cub.h"

#include <cstring>
#include <cub/device/device_radix_sort.cuh>

// interpreter/images.S
extern "C" {
extern const char diptych_operators_text[], diptych_operators_text_end[], diptych_operators_image[];
extern const char diptych_functions_text[], diptych_functions_text_end[], diptych_functions_image[];
}

#define DIPTYCH_CUB_EXPORT extern "C" __attribute__((visibility("default")))

DIPTYCH_CUB_EXPORT int diptych_cub_version(void) { return DIPTYCH_CUB_VERSION; }

DIPTYCH_CUB_EXPORT int diptych_cub_sort_pairs(void* temporary, size_t* temporary_bytes, uint64_t* keys,
                                              uint64_t* other_keys, uint32_t* values, uint32_t* other_values,
                                              uint32_t rows, int begin_bit, int end_bit, void* stream, int* result) {
  cub::DoubleBuffer<uint64_t> key_buffers(keys, other_keys);
  cub::DoubleBuffer<uint32_t> value_buffers(values, other_values);
  const cudaError_t error =
      cub::DeviceRadixSort::SortPairs(temporary, *temporary_bytes, key_buffers, value_buffers, rows, begin_bit, end_bit,
                                      static_cast<cudaStream_t>(stream));
  *result = value_buffers.selector;
  return static_cast<int>(error);
}

DIPTYCH_CUB_EXPORT const char* diptych_cub_error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

DIPTYCH_CUB_EXPORT const void* diptych_cub_image(const char* text, size_t bytes) {
  const auto is = [&](const char* first, const char* end) {
    return bytes == static_cast<size_t>(end - first) && std::memcmp(text, first, bytes) == 0;
  };
  if (is(diptych_operators_text, diptych_operators_text_end)) return diptych_operators_image;
  if (is(diptych_functions_text, diptych_functions_text_end)) return diptych_functions_image;
  return nullptr;
}
