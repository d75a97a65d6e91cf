#include "plan/rules/rules.h"
#include "tablet/limited_source.h"

namespace diptych {

namespace {

// A file of which only the first rows are wanted is read no further. Before any other rule, which may ask for bounds of
// all rows.
//
//   Limit 10 offset 5                    Limit 10 offset 5
//   └ Scan 'x.csv' (1000000 rows)  ->    └ Scan 'x.csv' (15 rows, or a few more)
class ReadFirstRows : public Rule {
 public:
  const char* name() const override { return "read_first_rows"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    if (plan->kind != OperatorKind::Limit || plan->limit < 0 || plan->limit > INT64_MAX - plan->offset) return;
    LogicalOperator* below = &plan->input();
    while (below->kind == OperatorKind::Project) below = &below->input();
    if (below->kind != OperatorKind::Scan) return;
    const auto* limited = dynamic_cast<const LimitedSource*>(below->source.get());
    if (limited != nullptr) below->source = limited->first_rows(plan->limit + plan->offset);
  }
};

}  // namespace

std::unique_ptr<Rule> make_read_first_rows() { return std::make_unique<ReadFirstRows>(); }

}  // namespace diptych
