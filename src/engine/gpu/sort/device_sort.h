// Sorting in a device's memory. What is sorted is row numbers; the rows are arrays of u64 words, as kernel/sort_key.h
// makes them from values, compared word by word as unsigned numbers:
//
//   words[0]   3  1  3  2         order   1  3  0  2
//   words[1]   5  9  5  0     ->
//
// The steps: find the bits of the words that differ between rows; put them together into keys of up to 64 bits
// (key_fields.h); sort (key, row number) by the last key, then by the one before, and so on, each time stably. With a
// limit, rows whose first key can't be among the first are left out before. CUB sorts the pairs where it is there, on
// CUDA devices; elsewhere kernel/device/radix_sort.h does. Of strings the words have the first bytes only: text_sort.h.
//
// Thread safety: calls with different queues may be made at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/device/cub/cub_library.h"
#include "engine/device/device.h"
#include "engine/gpu/sort/row_select.h"
#include "engine/gpu/sort/sort_kernels.h"
#include "engine/gpu/sort/text_sort.h"
#include "engine/gpu/sort/top_rows.h"

namespace diptych::gpu {

struct SortInput {
  std::span<const DeviceAddress> words;
  std::span<const TextKey> texts;  // ascending by word
  int64_t rows = 0;
};

class DeviceSort {
 public:
  // Row numbers have 32 bits.
  static constexpr int64_t most_rows = (int64_t{1} << 32) - 65536;

  // Both outlive it. cub: nullptr where there is none; used by CUDA devices only.
  DeviceSort(Device& device, const CubLibrary* cub);

  // The row numbers (u32) of rows 0, ... in order; rows that are equal in all keys stay as they were. words: arrays of
  // `rows` u64, the most significant first; they are only read. texts: which of them have the first 8 bytes of strings.
  // limit: how many row numbers are wanted, -1 for all; the buffer may hold more, and is empty when none are. Waits
  // until it is done.
  // Errors: 53200 without room for working_bytes; 54000 for more than most_rows; 58000 from the device; what
  // check_cancelled throws.
  DeviceBuffer sort(Queue& queue, const SortInput& input, int64_t limit,
                    const std::function<void()>& check_cancelled) const;

  // Of a small limit (TopRows::can_find), without a wait.
  TopRows find_first(Queue& queue, const TopInput& input, int64_t limit) const {
    return {device_, kernels_, queue, input, limit};
  }

  // Device memory that a sort of so many rows takes, its result included, give or take a few MiB. has_texts: a key may
  // be strings of no dictionary.
  static int64_t working_bytes(int64_t rows, bool has_texts) { return rows * (has_texts ? 72 : 24); }

  // Queues to[i] = from[order[i]] for i in [0, rows): elements of 1, 2, 4, 8 or 16 bytes.
  void gather(Queue& queue, int element_bytes, DeviceAddress from, DeviceAddress order, int64_t rows,
              DeviceAddress to) const;

  // Adds the kernels that rows are sorted with unless the first are found otherwise, of which `limit` are wanted (-1:
  // all), and those that are needed for some rows only.
  void add_kernels(bool has_texts, int64_t limit, std::vector<KernelText>& always,
                   std::vector<KernelText>& sometimes) const;
  // The one that gathers elements of so many bytes.
  static KernelText gather_kernel(int element_bytes) { return SortKernels::text_of(gather_entry(element_bytes)); }

  // What sorts the pairs.
  const char* form() const { return cub_ != nullptr ? "cub" : "radix"; }

 private:
  // Those that are wanted, and all that are equal to the last of them, at least.
  SelectedRows sort_words(Queue& queue, std::span<const DeviceAddress> words, int64_t rows, int64_t limit) const;
  static std::string gather_entry(int element_bytes) { return "dk_gather_" + std::to_string(element_bytes); }

  Device& device_;
  SortKernels kernels_;
  const CubLibrary* cub_;
};

}  // namespace diptych::gpu
