// How many rows each batch of a section has, chosen as it goes.
//
//   cached, mapped     all at once
//   streamed, serial   as many as bring a bus to full speed and fit into the device's memory several times
//   LIMIT              few at first, then more and more
#pragma once

#include <cstdint>

#include "engine/gpu/gpu_engine.h"

namespace diptych::gpu {

// A bus moves pieces of some megabytes at full speed. Batches of streamed columns overlap: one copies in, one computes,
// one copies out; together they stay under 64 MB.
inline constexpr int64_t most_batch_bytes = int64_t{20} << 20, streamed_batches = 3;

class BatchSizes {
 public:
  struct Section {
    Residency residency = Residency::Cached;
    bool needs_all = false;      // rows must come together, as those of a sort
    int64_t wanted = -1;         // see SectionTask
    double input_row_bytes = 0;  // of the columns that are read, encoded, on average
    int64_t memory_bytes = 0;    // that the device may use
  };
  explicit BatchSizes(const Section& section);

  // Of the next batch, at most; 1 or more.
  int64_t next_rows();

 private:
  const Section section_;
  int64_t limited_rows_;  // of the next batch, with a LIMIT
};

}  // namespace diptych::gpu
