// The plans and programs of the queries and changes that ran last: an application says the same few statements again
// and again, and planning and compiling one over few rows takes longer than running it.
//
//   SELECT ... ran   ->  kept  ->  taken out by the next run of the text, with the tables of that moment  ->  kept ...
//
// Not kept are queries over files and those that read the clock, changes that read no table, such as INSERT of VALUES,
// nor what was computed from the rows of tables, but for look-ups over dictionaries, which are compared before each
// run.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "session/query_plan.h"

namespace diptych {

class PlanCache {
 public:
  PlanCache();

  // What is kept of the key; null: nothing. Stays until the next call of another member.
  const QueryPlan* find(const PlanKey& key) const;
  // Out of the cache, the last kept one of the key that serves; null: none does. Plans of one key serve other values of
  // the parameters each.
  std::unique_ptr<QueryPlan> take(const PlanKey& key, const std::function<bool(QueryPlan&)>& serves);
  // In place of those that were kept first, where there are too many. One that can't be kept is thrown away.
  void keep(std::unique_ptr<QueryPlan> plan) noexcept;

  // Longer keys are not kept.
  static constexpr size_t most_key_bytes = 4096;
  size_t size() const { return plans_.size(); }

 private:
  void drop_oldest_of(const PlanKey& key);
  std::unique_ptr<QueryPlan> take_if(const std::function<bool(QueryPlan&)>& is_wanted);

  std::vector<std::unique_ptr<QueryPlan>> plans_;  // in the order in which they were kept
  size_t constants_ = 0;                           // of all programs
};

}  // namespace diptych
