#include "engine/gpu/batch_sizes.h"

#include <algorithm>
#include <limits>

namespace diptych::gpu {
namespace {

// Where memory is little: what a batch takes beside its columns is as much again.
constexpr int64_t part_of_memory = 2 * streamed_batches;

// With a LIMIT a few tablets may do.
constexpr int64_t first_limited_rows = int64_t{4} << 20, limited_growth = 4;

constexpr int64_t all_rows = std::numeric_limits<int64_t>::max();

}  // namespace

BatchSizes::BatchSizes(const Section& section)
    : section_(section), limited_rows_(section.wanted < 0 ? all_rows : first_limited_rows) {}

int64_t BatchSizes::next_rows() {
  if (section_.needs_all) return all_rows;
  int64_t rows = limited_rows_;
  if (limited_rows_ < all_rows / limited_growth) limited_rows_ *= limited_growth;
  if (section_.residency == Residency::Cached || section_.residency == Residency::Mapped) return rows;
  const auto bytes = static_cast<double>(std::min(most_batch_bytes, section_.memory_bytes / part_of_memory));
  if (section_.input_row_bytes * static_cast<double>(rows) > bytes)
    rows = static_cast<int64_t>(bytes / section_.input_row_bytes);
  return std::max<int64_t>(rows, 1);
}

}  // namespace diptych::gpu
