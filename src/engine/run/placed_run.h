// The sections of a run as they were placed before the first one, which the walk keeps for whoever has placed them.
#pragma once

#include <cstdint>

namespace diptych {

// Thread safety: none; the walk's thread uses it.
class PlacedRun {
 public:
  virtual ~PlacedRun() = default;
  // What the section behind the Parallel at `address` took, with the operations between it and the next one.
  virtual void add_time(int32_t address, int64_t nanoseconds) = 0;
  // The run went as it was placed, and had no error: what it took is worth learning.
  virtual void end() = 0;
};

}  // namespace diptych
