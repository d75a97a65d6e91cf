// Where a section runs, out of what each way to run it takes: a pure function of estimates, of what runs have shown and
// of how often the question has come.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "cost/cost_model.h"

namespace diptych {

// A way to run a section on a device.
struct Way {
  Residency residency = Residency::Cached;
  CostEstimate now;         // with what is there at the moment
  double settled_ns = 0;    // with columns in place and the kernel compiled, as runs have shown it to be
  bool is_settled = false;  // they are
  double regret_ns = 0;     // time lost so far by not having had them there
};

struct PlacementDecision {
  std::optional<size_t> way;  // number of it; nothing: the CPU
  size_t best = 0;            // the way that takes least once settled
  std::optional<size_t>
      in_place;           // the fastest that needs nothing moved or compiled, where the best does; nothing: the CPU
  bool is_trial = false;  // another than the best for now, so that what is known of it stays true
  double regret_ns = 0;   // of the best, from now on
};

// ways: one or more. cpu_ns: of the CPU. decision: about this section, counted from 1.
PlacementDecision choose(std::span<const Way> ways, double cpu_ns, int64_t decision);

}  // namespace diptych
