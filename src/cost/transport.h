// How engines cut a section's rows into pieces and where a device finds them: what the cost functions and the engines
// have to agree on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace diptych {

// Where a section's columns are while its kernel reads them.
enum class Residency : uint8_t {
  Serial,    // copied in, read, thrown away: one batch after the other
  Streamed,  // the same from pinned memory, several batches at once, so that copies and kernels overlap
  Mapped,    // left in pinned host memory, read over the bus
  Cached     // copied once, then on the device
};
inline constexpr size_t residency_count = 4;
const char* name_of(Residency residency);

// What a thread of the CPU takes at a time. Small enough that the threads end together, large enough that taking one
// costs nothing.
inline constexpr int64_t morsel_rows = 65536;

// A bus moves pieces of some megabytes at full speed. Batches that overlap: one copies in, one computes, one copies
// out.
inline constexpr int64_t most_batch_bytes = int64_t{16} << 20, batches_at_once = 3;
// Of streamed columns: those of a batch that copies in and of one that computes, which are free when it has computed,
// and rows of one more, that copies out. Little more takes a device's memory.
inline constexpr int64_t streamed_bytes = int64_t{60} << 20, columns_at_once = 2;

}  // namespace diptych
