#include <algorithm>
#include <utility>

#include "plan/rules/rules.h"

namespace diptych {

namespace {

// A limit that only projections stand on becomes the plan's last operator, which ends the run when it has its rows; two
// in a row become one.
//
//   Limit 10                   Limit 10 offset 5
//   └ Project a + 1        ->  └ Project a + 1
//     └ Limit 100 offset 5       └ Scan t
//       └ Scan t
class RaiseLimit : public Rule {
 public:
  const char* name() const override { return "raise_limit"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    while (raise(plan)) continue;
  }

 private:
  static bool raise(LogicalOperatorPtr& plan) {
    LogicalOperatorPtr* above = plan->kind == OperatorKind::Limit ? &plan->inputs.front() : &plan;
    LogicalOperatorPtr* at = above;
    while ((*at)->kind == OperatorKind::Project) at = &(*at)->inputs.front();
    if ((*at)->kind != OperatorKind::Limit) return false;
    if (at == &plan) return false;
    LogicalOperatorPtr limit = std::move(*at);
    *at = std::move(limit->inputs.front());
    if (above != &plan) {
      merge(*plan, *limit);
    } else {
      limit->columns = plan->columns;
      limit->inputs.front() = std::move(plan);
      plan = std::move(limit);
    }
    return true;
  }

  // `below` gives rows to `above`.
  static void merge(LogicalOperator& above, const LogicalOperator& below) {
    if (below.limit >= 0) {
      const int64_t left = std::max<int64_t>(0, below.limit - above.offset);
      above.limit = above.limit < 0 ? left : std::min(above.limit, left);
    }
    above.offset = above.offset > INT64_MAX - below.offset ? INT64_MAX : above.offset + below.offset;
  }
};

}  // namespace

std::unique_ptr<Rule> make_raise_limit() { return std::make_unique<RaiseLimit>(); }

}  // namespace diptych
