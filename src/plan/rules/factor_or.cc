#include <algorithm>
#include <utility>

#include "plan/conditions.h"
#include "plan/rules/rules.h"

namespace diptych {

namespace {

using Conditions = std::vector<ExpressionPtr>;

// What all alternatives of an OR ask for is asked for once, before it, where it may become the key of a join.
//
//   (a.k = b.k AND x < 5) OR (a.k = b.k AND y > 7)   ->   a.k = b.k AND (x < 5 OR y > 7)
//   x = 1 OR (x = 1 AND y > 7)                       ->   x = 1
//
// Holds in three-valued logic. Conditions that may raise an error stay behind what stands before them.
class FactorOr : public Rule {
 public:
  const char* name() const override { return "factor_or"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    for_each_expression_in_plan(*plan, [](ExpressionPtr& root) {
      rewrite_bottom_up(root, [](ExpressionPtr& expression) {
        if (expression->kind == ExpressionKind::Or) factor(expression);
      });
    });
  }

 private:
  static bool has_equal(const Expression& alternative, const Expression& condition) {
    if (alternative.kind != ExpressionKind::And) return alternative.equals(condition);
    return std::any_of(alternative.args.begin(), alternative.args.end(),
                       [&](const ExpressionPtr& part) { return has_equal(*part, condition); });
  }

  // Of the conditions of the first alternative, those that all others have, too.
  static Conditions common_of(const std::vector<ExpressionPtr>& alternatives) {
    Conditions first, common;
    take_conditions(alternatives.front()->clone(), first);
    for (ExpressionPtr& condition : first) {
      const auto is_there = [&](const ExpressionPtr& other) { return has_equal(*other, *condition); };
      if (cannot_fail(*condition) && std::all_of(alternatives.begin() + 1, alternatives.end(), is_there))
        common.push_back(std::move(condition));
    }
    return common;
  }

  static Conditions without(ExpressionPtr alternative, const Conditions& common) {
    Conditions conditions;
    take_conditions(std::move(alternative), conditions);
    std::erase_if(conditions, [&](const ExpressionPtr& condition) {
      return std::any_of(common.begin(), common.end(), [&](const auto& one) { return one->equals(*condition); });
    });
    return conditions;
  }

  static void factor(ExpressionPtr& either) {
    Conditions common = common_of(either->args);
    if (common.empty()) return;
    bool is_met = false;  // by an alternative that asks for nothing else
    for (ExpressionPtr& alternative : either->args) {
      Conditions left = without(std::move(alternative), common);
      is_met = is_met || left.empty();
      if (!left.empty()) alternative = all_of(std::move(left));
    }
    if (!is_met) common.push_back(std::move(either));
    either = all_of(std::move(common));
  }
};

}  // namespace

std::unique_ptr<Rule> make_factor_or() { return std::make_unique<FactorOr>(); }

}  // namespace diptych
