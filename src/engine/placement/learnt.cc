#include "engine/placement/learnt.h"

#include <algorithm>

namespace diptych {
void add_run(LearntTime& way, double ns, double estimate_ns) {
  if (estimate_ns <= 0) return;
  way.latest[static_cast<size_t>(way.runs++) % way.latest.size()] = ns / estimate_ns;
  const auto known = static_cast<ptrdiff_t>(std::min<int64_t>(way.runs, std::ssize(way.latest)));
  way.ratio = *std::min_element(way.latest.begin(), way.latest.begin() + known);
  if (way.runs == 1) way.ratio = std::min(way.ratio, 1.0);
}

void pass_rests(LearntChain& chain) {
  for (auto& device : chain.devices)
    for (LearntTime& way : device) way.rest = std::max<int64_t>(0, way.rest - 1);
}

void note_trial(Trials& trials, bool is_trial, bool is_better) {
  if (!is_trial) {
    if (trials.left > 0) --trials.left;
    return;
  }
  --trials.left;
  if (!is_better && trials.left > -Trials::runs) return;
  trials.wait = is_better ? Trials::first_wait : std::min(trials.wait * 3 / 2, Trials::most_wait);
  trials.left = trials.wait;
}

}  // namespace diptych
