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
// cold: a way is as slow as the best of its last runs. Before the second, the estimate counts as one. A time is learnt
// as a ratio, since it serves for other literals, too, which may leave more rows or fewer, up to some times as many
// (size_class_of()).
struct LearntTime {
  double ratio = 1;  // of a run's time to its estimate, with columns and kernels in place
  std::array<double, 4> latest{};
  int64_t runs = 0;
  int64_t last_run = 0;  // as the chain counts them; 0: none yet
  int64_t rest = 0;      // decisions for which it is no way, since the device had no memory for it
};

// Runs elsewhere, before a device had the columns and the kernels.
struct RentPaid {
  double ns = 0;  // what they took, each as the best of the last
  int64_t runs = 0;
};

// When a way that is not chosen is tried again: a time that was learnt in a busy moment, or an estimate that is off,
// would keep it away for good. The less trials change, the rarer they are.
struct Trials {
  static constexpr int64_t first_wait = 16, most_wait = 1024;
  // The first run of the CPU among a device's finds caches cold and threads asleep: a trial has so many, one after the
  // other, unless it is found to be better before.
  static constexpr int64_t runs = 3;
  int64_t wait = first_wait;  // runs between one and the next
  int64_t left = first_wait;  // runs until the next; below 0: of the one at hand, so many are over

  bool is_due() const { return left <= 0; }
  bool is_at_hand() const { return left < 0; }
};

struct LearntChain {
  LearntTime cpu;
  std::vector<std::array<LearntTime, residency_count>> devices;  // by device, then residency
  RentPaid rent;
  Trials trials;
  int64_t runs = 0;

  LearntTime& of(size_t device, Residency residency) {
    if (devices.size() <= device) devices.resize(device + 1);
    return devices[device][static_cast<size_t>(residency)];
  }
  // As of(); nothing is learnt of a device that has never run it.
  LearntTime known(size_t device, Residency residency) const {
    return device < devices.size() ? devices[device][static_cast<size_t>(residency)] : LearntTime();
  }
};

// What a device could not do, for want of memory or since a row failed behind a LIMIT, is not tried again for so many
// decisions.
inline constexpr int64_t rest_decisions = 64;

// A run of the whole chain. estimate_ns: of the way that it took, with all in place.
void add_run(LearntTime& way, double ns, double estimate_ns);

// Another decision was made.
void pass_rests(LearntChain& chain);

// is_trial: the run was one. is_better: than what is chosen otherwise.
void note_trial(Trials& trials, bool is_trial, bool is_better);

}  // namespace diptych
