#include "plan/optimizer.h"

#include "base/stack.h"
#include "plan/cardinality.h"
#include "plan/rules/rules.h"

namespace diptych {

std::vector<std::unique_ptr<Rule>> make_rules_of_conditions() {
  std::vector<std::unique_ptr<Rule>> list;
  list.push_back(make_push_filters());
  list.push_back(make_push_not_down());
  list.push_back(make_factor_or());
  list.push_back(make_fold_constants());
  list.push_back(make_narrow_comparisons());
  return list;
}

const std::vector<std::unique_ptr<Rule>>& optimizer_rules() {
  static const std::vector<std::unique_ptr<Rule>> rules = [] {
    std::vector<std::unique_ptr<Rule>> list = make_rules_of_conditions();
    list.push_back(make_order_joins());
    list.push_back(make_raise_limit());
    list.push_back(make_read_first_rows());
    list.push_back(make_prune_columns());
    list.push_back(make_semi_joins());
    list.push_back(make_top_n());
    return list;
  }();
  return rules;
}

LogicalOperatorPtr optimize(LogicalOperatorPtr plan, Evaluator& evaluator) {
  const int depth = plan->depth;
  run_at_depth(depth, [&] {
    for (const auto& rule : optimizer_rules()) rule->apply(plan, evaluator);
    estimate(*plan);
  });
  plan->depth = depth;
  return plan;
}

}  // namespace diptych
