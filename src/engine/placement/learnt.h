// What the runs of a chain of sections have taught: what they took of what was estimated, and what was lost by not
// having its columns and kernels on a device. Plain values that placement is given, and functions that make the next
// ones: no clock, no lock.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "cost/transport.h"

namespace diptych {

// Of one way to run a chain. What else the machine does makes runs slower, never faster, and the first one finds caches
// cold: a way is as slow as the better of its last two runs. Before the first, the estimate counts as one. A time is
// learnt as a ratio, since it serves for other literals, too, which may leave more rows or fewer.
struct LearntTime {
  double ratio = 1;  // of a run's time to its estimate, with columns and kernels in place
  double last = 1;   // of the last run
  int64_t rest = 0;  // decisions for which it is no way, since the device had no memory for it
};

// Runs elsewhere, before a device had the columns and the kernels.
struct RentPaid {
  double ns = 0;  // what they took, each as the better of two in a row
  int64_t runs = 0;
};

struct LearntChain {
  LearntTime cpu;
  std::vector<std::array<LearntTime, residency_count>> devices;  // by device, then residency
  RentPaid rent;

  LearntTime& of(size_t device, Residency residency) {
    if (devices.size() <= device) devices.resize(device + 1);
    return devices[device][static_cast<size_t>(residency)];
  }
};

// What a device could not do, for want of memory or since a row failed behind a LIMIT, is not tried again for so many
// decisions.
inline constexpr int64_t rest_decisions = 64;

// A run of the whole chain. estimate_ns: of the way that it took, with all in place.
void add_run(LearntTime& way, double ns, double estimate_ns);

// Another decision was made.
void pass_rests(LearntChain& chain);

}  // namespace diptych
