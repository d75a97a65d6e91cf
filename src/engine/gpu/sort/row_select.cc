#include "engine/gpu/sort/row_select.h"

#include <algorithm>
#include <vector>

#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

constexpr int select_digit_bits = 11;  // DK_SELECT_BITS
constexpr int64_t select_digits = int64_t{1} << select_digit_bits;

// Rows with key >> shift <= greatest are wanted.
struct Threshold {
  int shift = 0;
  uint64_t greatest = 0;
  int64_t rows = 0;
};

// So few rows that sorting them costs less than another pass over all keys.
int64_t few_enough(int64_t rows, int64_t limit) { return std::max(2 * limit, rows / 64); }

Threshold find_threshold(Device& device, const SortKernels& kernels, Queue& queue, DeviceAddress keys, int64_t rows,
                         int bits, int64_t limit) {
  const DeviceBuffer buffer = device.allocate(select_digits * 4, "row selection");
  std::vector<uint32_t> counts(select_digits);
  const WhenDone when_done{queue};
  Threshold threshold{bits, 0, rows};
  int64_t below = 0;  // rows that come before those with the prefix
  do {
    const int width = std::min(select_digit_bits, threshold.shift);
    const int shift = threshold.shift - width;
    queue.fill(buffer.address(), 0, select_digits * 4);
    kernels.launch(queue, "dk_select_count", kernels.groups_for(rows),
                   {static_cast<uint64_t>(rows), keys.value, static_cast<uint64_t>(shift), static_cast<uint64_t>(width),
                    threshold.greatest, buffer.address().value});
    queue.copy_to_host(counts.data(), buffer.address(), select_digits * 4);
    queue.synchronize();
    uint64_t digit = 0;
    while (below + counts[digit] < limit) below += counts[digit++];
    threshold = {shift, threshold.greatest << width | digit, below + counts[digit]};
  } while (threshold.shift > 0 && threshold.rows > few_enough(rows, limit));
  return threshold;
}

}  // namespace

SelectedRows select_least(Device& device, const SortKernels& kernels, Queue& queue, DeviceAddress keys, int64_t rows,
                          int bits, int64_t limit) {
  const Threshold threshold = find_threshold(device, kernels, queue, keys, rows, bits, limit);
  const int64_t groups = kernels.groups_for_tiles(rows);
  const DeviceBuffer counts = device.allocate((groups + 1) * 4, "row selection");
  SelectedRows selected{device.allocate(threshold.rows * 4, "sorted row numbers"), threshold.rows};
  const WhenDone when_done{queue};
  const auto all = static_cast<uint64_t>(rows);
  const auto shift = static_cast<uint64_t>(threshold.shift);
  const uint64_t at = counts.address().value;
  kernels.launch(queue, "dk_select_tally", groups, {all, keys.value, shift, threshold.greatest, at});
  kernels.launch(queue, "dk_run_scan", 1, {static_cast<uint64_t>(groups), at, (counts.address() + groups * 4).value});
  kernels.launch(queue, "dk_select_rows", groups,
                 {all, keys.value, shift, threshold.greatest, at, selected.numbers.address().value});
  queue.synchronize();
  return selected;
}

}  // namespace diptych::gpu
