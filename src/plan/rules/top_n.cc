#include "plan/rules/rules.h"

namespace diptych {

namespace {

// A sort of which only the first rows are wanted keeps only those.
//
//   Limit 10 offset 5        Limit 10 offset 5
//   └ Sort a             ->  └ Top 15 by a
class TopN : public Rule {
 public:
  const char* name() const override { return "top_n"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    for (LogicalOperator* op = plan.get(); op; op = op->inputs.empty() ? nullptr : &op->input()) {
      if (op->kind != OperatorKind::Limit || op->limit < 0) continue;
      LogicalOperator* below = &op->input();
      while (below->kind == OperatorKind::Project) below = &below->input();
      if (below->kind == OperatorKind::Sort && op->limit <= INT64_MAX - op->offset)
        below->limit = op->limit + op->offset;
    }
  }
};

}  // namespace

std::unique_ptr<Rule> make_top_n() { return std::make_unique<TopN>(); }

}  // namespace diptych
