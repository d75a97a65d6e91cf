#include "engine/gpu/sort/pair_sort.h"

#include <utility>

namespace diptych::gpu {
namespace {

constexpr int sort_digits = 256;  // DK_RADIX_DIGITS
constexpr int sort_digit_bits = 8;

}  // namespace

PairSort::PairSort(Device& device, const SortKernels& kernels, const CubLibrary* cub, int64_t rows, DeviceBuffer values)
    : device_(device), kernels_(kernels), cub_(cub), rows_(rows) {
  for (DeviceBuffer& buffer : keys_) buffer = device.allocate(rows * 8, "sort keys");
  values_[0] = values.bytes() > 0 ? std::move(values) : device.allocate(rows * 4, "sorted row numbers");
  values_[1] = device.allocate(rows * 4, "sorted row numbers");
}

void PairSort::sort(Queue& queue, int bits) {
  if (cub_ != nullptr) return sort_with_cub(queue, bits);
  for (int shift = 0; shift < bits; shift += sort_digit_bits) sort_digit(queue, shift);
}

void PairSort::sort_with_cub(Queue& queue, int bits) {
  CubPairs pairs;
  for (int place = 0; place < 2; ++place) {
    pairs.keys[place] = keys_[place ^ at_].address();
    pairs.values[place] = values_[place ^ at_].address();
  }
  const auto rows = static_cast<uint32_t>(rows_);
  const int64_t bytes = cub_->temporary_bytes(queue, rows, bits);
  at_ ^= cub_->sort_pairs(queue, pairs, rows, bits, temporary(queue, bytes), bytes);
}

void PairSort::sort_digit(Queue& queue, int shift) {
  const int64_t groups = kernels_.groups_for_tiles(rows_);
  const DeviceAddress counts = temporary(queue, (groups + 1) * sort_digits * 4);
  const DeviceAddress sums = counts + groups * sort_digits * 4;
  const auto rows = static_cast<uint64_t>(rows_);
  const auto from = static_cast<uint64_t>(shift);
  const int other = at_ ^ 1;
  kernels_.launch(queue, "dk_radix_count", groups, {rows, keys().value, from, counts.value});
  kernels_.launch(queue, "dk_run_scan", sort_digits, {static_cast<uint64_t>(groups), counts.value, sums.value});
  kernels_.launch(queue, "dk_radix_scatter", groups,
                  {rows, keys().value, values().value, from, counts.value, sums.value, keys_[other].address().value,
                   values_[other].address().value});
  at_ = other;
}

DeviceAddress PairSort::temporary(Queue& queue, int64_t bytes) {
  if (temporary_.bytes() < bytes) {
    // An earlier sort may still use what there is.
    if (temporary_.bytes() > 0) queue.synchronize();
    temporary_ = device_.allocate(bytes, "sorting");
  }
  return temporary_.address();
}

}  // namespace diptych::gpu
