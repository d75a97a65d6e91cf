#include "engine/gpu/sort/top_rows.h"

#include <vector>

namespace diptych::gpu {
namespace {

// As in kernel/device/top_rows.h.
constexpr size_t most_words = 16;                    // DK_TOP_MOST_WORDS
constexpr size_t steps = 7;                          // DK_TOP_STEPS
constexpr int64_t state_bytes = (12 + 16) * 8;       // DK_TOP_STATE_WORDS
constexpr int64_t count_bytes = int64_t{2048} * 4;   // DK_TOP_DIGITS
constexpr int64_t number_bytes = int64_t{2048} * 4;  // DK_TOP_ROOM

}  // namespace

bool TopRows::can_find(size_t words, int64_t limit) {
  return limit > 0 && limit <= most_limit && words > 0 && words <= most_words;
}

void TopRows::add_kernels(std::vector<KernelText>& always) {
  for (const char* entry : {"dk_top_begin", "dk_top_step", "dk_top_tally", "dk_run_scan", "dk_top_rows", "dk_top_sort"})
    always.push_back(SortKernels::text_of(entry));
}

TopRows::TopRows(Device& device, const SortKernels& kernels, Queue& queue, const TopInput& input, int64_t limit) {
  const int64_t groups = kernels.groups_for(input.most_rows), runs = kernels.groups_for_tiles(input.most_rows);
  buffer_ = device.allocate(state_bytes + count_bytes + (runs + 1) * 8 + number_bytes + limit * 4, "first rows");
  const DeviceAddress state = buffer_.address(), counts = state + state_bytes, tallies = counts + count_bytes;
  const DeviceAddress sums = tallies + runs * 8, numbers = sums + 8;
  order_ = numbers + number_bytes;
  std::vector<uint64_t> parameters = {state.value,
                                      counts.value,
                                      tallies.value,
                                      numbers.value,
                                      order_.value,
                                      input.rows.value,
                                      static_cast<uint64_t>(input.most_rows),
                                      static_cast<uint64_t>(limit),
                                      input.words.size()};
  for (const DeviceAddress word : input.words) parameters.push_back(word.value);
  queue.fill(counts, 0, count_bytes);
  kernels.launch(queue, "dk_top_begin", 1, parameters);
  for (size_t step = 0; step < steps * input.words.size(); ++step)
    kernels.launch(queue, "dk_top_step", groups, parameters);
  kernels.launch(queue, "dk_top_tally", runs, parameters);
  kernels.launch(queue, "dk_run_scan", 2, {static_cast<uint64_t>(runs), tallies.value, sums.value});
  kernels.launch(queue, "dk_top_rows", runs, parameters);
  kernels.launch(queue, "dk_top_sort", 1, parameters);
}

}  // namespace diptych::gpu
