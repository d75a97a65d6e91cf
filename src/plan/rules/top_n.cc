#include <utility>

#include "plan/rules/rules.h"

namespace diptych {

namespace {

// A sort of which only the first rows are wanted keeps only those. A limit inside of a plan comes to stand on its sort,
// whose rows it then leaves out without making others of them.
//
//   Limit 10 offset 5        Project b
//   └ Project b          ->  └ Limit 10 offset 5
//     └ Sort a                 └ Top 15 by a
class TopN : public Rule {
 public:
  const char* name() const override { return "top_n"; }

  void apply(LogicalOperatorPtr& plan, Evaluator&) const override {
    const LogicalOperatorPtr* const last = &plan;
    for_each_operator(plan, [last](LogicalOperatorPtr& at) {
      if (at->kind == OperatorKind::Limit) limit_sort(at, &at == last);
    });
  }

 private:
  static void limit_sort(LogicalOperatorPtr& limit, bool is_last) {
    LogicalOperatorPtr* sort = &limit->inputs.front();
    while ((*sort)->kind == OperatorKind::Project) sort = &(*sort)->inputs.front();
    if ((*sort)->kind != OperatorKind::Sort) return;
    if (limit->limit >= 0 && limit->limit <= INT64_MAX - limit->offset) (*sort)->limit = limit->limit + limit->offset;
    if (is_last || sort == &limit->inputs.front()) return;
    LogicalOperatorPtr project = std::move(limit->inputs.front());
    LogicalOperatorPtr moved = std::exchange(limit, nullptr);
    moved->columns = (*sort)->columns;
    moved->inputs.front() = std::move(*sort);
    *sort = std::move(moved);
    limit = std::move(project);
  }
};

}  // namespace

std::unique_ptr<Rule> make_top_n() { return std::make_unique<TopN>(); }

}  // namespace diptych
