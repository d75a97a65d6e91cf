#include "plan/rules/rules.h"
#include "tablet/source_parts.h"

namespace diptych {

namespace {

// A file of which only the first rows that fulfil a condition are wanted is read part by part, and no further than to
// the part that has the last of them. Before any other rule, which may ask for bounds of all rows.
//
//   Limit 10 offset 5                      Limit 10 offset 5
//   └ Filter a > 1                         └ Filter a > 1
//     └ Scan 'x.csv' (1000000 rows)  ->      └ Scan 'x.csv' (up to the limit)
class ReadFirstRows : public Rule {
 public:
  const char* name() const override { return "read_first_rows"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    if (plan->kind != OperatorKind::Limit || plan->limit < 0) return;
    LogicalOperator* below = &plan->input();
    while (below->kind == OperatorKind::Project || below->kind == OperatorKind::Filter) below = &below->input();
    if (below->kind != OperatorKind::Scan) return;
    const auto* file = dynamic_cast<const CanComeInParts*>(below->source.get());
    if (file != nullptr) below->source = file->in_parts();
  }
};

}  // namespace

std::unique_ptr<Rule> make_read_first_rows() { return std::make_unique<ReadFirstRows>(); }

}  // namespace diptych
