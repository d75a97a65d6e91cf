#include "engine/placement/learnt.h"

#include <algorithm>

namespace diptych {
void add_run(LearntTime& way, double ns, double estimate_ns) {
  if (estimate_ns <= 0) return;
  const double ratio = ns / estimate_ns;
  way.ratio = std::min(ratio, way.last);
  way.last = ratio;
}

void pass_rests(LearntChain& chain) {
  for (auto& device : chain.devices)
    for (LearntTime& way : device) way.rest = std::max<int64_t>(0, way.rest - 1);
}

}  // namespace diptych
