#include "session/plan_cache.h"

#include <algorithm>
#include <iterator>

namespace diptych {
namespace {

constexpr size_t most_plans = 64;
// A run looks through them, and computes what each relies on.
constexpr size_t most_plans_of_a_key = 4;
// Of all plans together: some 8 MB, or two expressions over a dictionary as large as they may be.
constexpr size_t most_constants = size_t{1} << 17;

}  // namespace

PlanCache::PlanCache() { plans_.reserve(most_plans + 1); }

const QueryPlan* PlanCache::find(const PlanKey& key) const {
  const auto place = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) { return *plan->key() == key; });
  return place != plans_.end() ? place->get() : nullptr;
}

std::unique_ptr<QueryPlan> PlanCache::take(const PlanKey& key, const std::function<bool(QueryPlan&)>& serves) {
  return take_if([&](QueryPlan& plan) { return *plan.key() == key && serves(plan); });
}

std::unique_ptr<QueryPlan> PlanCache::take_if(const std::function<bool(QueryPlan&)>& is_wanted) {
  const auto place = std::find_if(plans_.rbegin(), plans_.rend(), [&](const auto& plan) { return is_wanted(*plan); });
  if (place == plans_.rend()) return nullptr;
  std::unique_ptr<QueryPlan> plan = std::move(*place);
  plans_.erase(std::next(place).base());
  constants_ -= plan->constants();
  return plan;
}

// Where there are too many.
void PlanCache::drop_oldest_of(const PlanKey& key) {
  const auto is_of_key = [&](const auto& plan) { return *plan->key() == key; };
  if (static_cast<size_t>(std::count_if(plans_.begin(), plans_.end(), is_of_key)) < most_plans_of_a_key) return;
  const auto oldest = std::find_if(plans_.begin(), plans_.end(), is_of_key);
  constants_ -= (*oldest)->constants();
  plans_.erase(oldest);
}

void PlanCache::keep(std::unique_ptr<QueryPlan> plan) noexcept {
  if (!plan->release_tables() || plan->constants() > most_constants) return;
  take_if([&](const QueryPlan& other) { return plan->replaces(other); });
  drop_oldest_of(*plan->key());
  constants_ += plan->constants();
  plans_.push_back(std::move(plan));  // there is room
  while (plans_.size() > most_plans || constants_ > most_constants) {
    constants_ -= plans_.front()->constants();
    plans_.erase(plans_.begin());
  }
}

}  // namespace diptych
