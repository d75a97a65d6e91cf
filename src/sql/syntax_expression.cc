#include "sql/syntax_expression.h"

#include <iterator>
#include <utility>

namespace diptych::syntax {

namespace {

// Moves the parts of a node to a list.
class Parts {
 public:
  explicit Parts(Expressions& list) : list_(list) {}

  template <typename Node>
  void operator()(Node&) {}  // a leaf
  void operator()(Operator& node) { take(node.args); }
  void operator()(Logical& node) { take(node.args); }
  void operator()(IsTest& node) { take(node.arg); }
  void operator()(DistinctTest& node) { take(node.left, node.right); }
  void operator()(Between& node) { take(node.value, node.low, node.high); }
  void operator()(InList& node) { take(node.value, node.items); }
  void operator()(Like& node) { take(node.value, node.pattern, node.escape); }
  void operator()(Case& node) {
    take(node.subject, node.otherwise);
    for (Case::Branch& branch : node.branches) take(branch.when, branch.then);
  }
  void operator()(Coalesce& node) { take(node.args); }
  void operator()(NullIf& node) { take(node.left, node.right); }
  void operator()(MinMax& node) { take(node.args); }
  void operator()(Cast& node) { take(node.arg); }
  void operator()(Collate& node) { take(node.arg); }
  void operator()(Call& node) { take(node.args, node.filter); }

 private:
  template <typename... Part>
  void take(Part&... parts) {
    (take(parts), ...);
  }
  void take(ExpressionPtr& part) {
    if (part) list_.push_back(std::move(part));
  }
  void take(Expressions& parts) {
    std::move(parts.begin(), parts.end(), std::back_inserter(list_));
    parts.clear();
  }

  Expressions& list_;
};

}  // namespace

// Every node that ends here has given its parts to the list before, so that no destructor waits for another.
Expression::~Expression() {
  Expressions list;
  std::visit(Parts(list), node);
  while (!list.empty()) {
    const ExpressionPtr last = std::move(list.back());
    list.pop_back();
    if (last) std::visit(Parts(list), last->node);
  }
}

}  // namespace diptych::syntax
