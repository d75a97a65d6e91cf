// Fetches the strings of a section's rows to host memory.
//
//   on the device   where each string is (kernel/device/text_row.h)
//        |  text_starts.h: a prefix sum of their lengths
//        |  text_copy.h: their bytes one behind the other, offsets that start at 0 in every piece of 65536 rows
//   host memory     |offsets of piece 0|offsets of piece 1|...|bytes|       as Encoding::Heap has them
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/device.h"
#include "tablet/column_view.h"

namespace diptych::gpu {

// A kernel of such a file, with so many words of parameters; it stays.
const KernelText& text_kernel(const char* file, const char* entry, size_t words);
// Adds those that TextFetch launches.
void add_text_kernels(std::vector<KernelText>& kernels);
// Launches a kernel of kernel/device/text_starts.h or text_copy.h for so many rows.
void launch_text_kernel(Device& device, Queue& queue, const char* file, const char* entry, int64_t rows,
                        const std::vector<uint64_t>& words);
// Rows that a work-group of them takes at a time.
inline constexpr int64_t text_tile_rows = 1024;

class TextFetch {
 public:
  // Rows of a piece, of which all but the last have as many.
  static constexpr int64_t piece_rows = 65536;

  // rows: a dk_text_row of each of `count` rows, one or more, in memory of the device. Waits for the device. Errors:
  // 53200 of the device or the host, and when the strings of a piece are more than offsets can tell; 58000.
  TextFetch(Device& device, Queue& queue, DeviceAddress rows, int64_t count);

  // Sets encoding, offsets and heap of a piece, which memory() keeps in place.
  void show(int64_t piece, ColumnView& view) const;
  std::shared_ptr<const void> memory() const { return memory_; }
  int64_t bytes() const { return memory_->bytes(); }  // of that

 private:
  void find_starts(DeviceAddress rows);
  void copy(DeviceAddress rows);
  int64_t pieces() const { return (count_ + piece_rows - 1) / piece_rows; }

  Device& device_;
  Queue& queue_;
  const int64_t count_;
  DeviceBuffer starts_;
  std::vector<uint64_t> piece_starts_;  // and the end
  std::shared_ptr<PinnedBuffer> memory_;
  int64_t heap_ = 0;  // offset in memory_
};

}  // namespace diptych::gpu
