#include "engine/gpu/sort/sort_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/gpu/sort/key_fields.h"
#include "kernel/kernel_library.h"

namespace diptych::gpu {
namespace {

constexpr size_t parameter_words = 5 + 3 * most_key_fields;  // dk_sort_keys has the most
// Enough for each compute unit to hide its memory's latency, and few counts for dk_radix_scan.
constexpr int64_t groups_per_unit = 8;

}  // namespace

SortKernels::SortKernels(Device& device)
    : device_(device), most_groups_(std::max(1, device.info().compute_units) * groups_per_unit) {}

// A kernel with its file and what that needs, since compilers take their time for every kernel in a text.
KernelText SortKernels::text_of(const std::string& entry) {
  std::string_view file = "device/sort_rows.h";
  if (entry.starts_with("dk_run_")) file = "device/row_runs.h";
  if (entry.starts_with("dk_radix_")) file = "device/radix_sort.h";
  if (entry.starts_with("dk_select_")) file = "device/row_select.h";
  if (entry.starts_with("dk_tie_") || entry.starts_with("dk_text_")) file = "device/row_ties.h";
  if (entry.starts_with("dk_top_")) file = "device/top_rows.h";
  return {fmt::format("#define DK_GROUP_SIZE {}\n#define DK_PARAMETER_WORDS {}\n", group_size, parameter_words) +
              kernel_text({file}),
          entry};
}

int64_t SortKernels::groups_for(int64_t rows) const {
  return std::clamp((rows + group_size - 1) / group_size, int64_t{1}, most_groups_);
}

int64_t SortKernels::groups_for_tiles(int64_t rows) const {
  return std::clamp((rows + tile_rows - 1) / tile_rows, int64_t{1}, most_groups_);
}

void SortKernels::launch(Queue& queue, const std::string& entry, int64_t groups,
                         std::span<const uint64_t> parameters) const {
  std::vector<uint64_t> words(parameters.begin(), parameters.end());
  words.resize(parameter_words);
  queue.launch(*find(queue, entry), groups, group_size, words);
}

// Others launch theirs while one is compiled.
std::shared_ptr<const Kernel> SortKernels::find(const Queue& queue, const std::string& entry) const {
  const PartScope scope(queue.clock(), TimePart::Compile);
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = kernels_.find(entry); known != kernels_.end()) return known->second;
  }
  std::shared_ptr<const Kernel> compiled = device_.compile(text_of(entry));
  const std::lock_guard lock(mutex_);
  return kernels_[entry] = std::move(compiled);
}

}  // namespace diptych::gpu
