// Binds the expressions of one clause of one query.
//
// Aggregates are collected in a list, and stand in the expression as the columns that they become in the grouped rows.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "bind/binder.h"
#include "bind/coercion.h"
#include "bind/scope.h"

namespace diptych {

// A query of a WITH clause, in the list of those that may be named there.
struct CommonTables {
  const syntax::CommonTable& table;
  const CommonTables* before;  // what its own query may name; null: none
  Scope* around;               // of the query around the one whose WITH it is; null: none
};

// A view that is being bound, and those around it.
struct ViewsInUse {
  const std::string& name;
  const ViewsInUse* around;  // null: none
};

// What all clauses of a statement share.
struct StatementState {
  const BindContext& context;
  ParameterTypes parameters;
  bool reads_clock = false;
  int depth = 0;            // levels of the deepest expression so far
  uint32_t columns = 0;     // that have an id
  size_t copied_nodes = 0;  // what copy_of() has made
  int nesting = 0;          // queries around the one being bound,
  int deepest_nesting = 0;  // and the most so far
  // What names of tables may mean before they mean one of the catalog: of all WITH clauses around, the innermost first.
  const CommonTables* common_tables = nullptr;
  const ViewsInUse* views = nullptr;

  Scope* scope = nullptr;   // of the query being bound, in which names of FROM come to stand when all of it is bound
  int joins = 0;            // of the FROM being bound and those around it,
  int deepest_joins = 0;    // and the most so far
  int64_t source_size = 0;  // of all sources bound so far, in columns

  ColumnId new_column() { return ColumnId{columns++}; }
  // Where a table or view of the name is. Views are of tables that all connections see.
  const CatalogSnapshot& catalog_of(const syntax::TableName& name) const {
    if (name.schema == syntax::Schema::Temporary) return context.catalog.temporary();
    return name.schema == syntax::Schema::Permanent || views != nullptr ? context.catalog.permanent() : context.catalog;
  }

  // Levels of the trees and plans made so far. The operators of a query's plan are walked as an expression is.
  int levels() const {
    constexpr int levels_of_query = 12, levels_of_join = 4;
    if (deepest_nesting == 0 && deepest_joins == 0) return depth;
    return depth + most_substituted_levels + levels_of_query * deepest_nesting + levels_of_join * deepest_joins;
  }
};

// Whether it is the value of one of the aggregates.
inline bool is_aggregate(const Expression& e, const std::vector<BoundAggregate>& aggregates) {
  return e.kind == ExpressionKind::Column &&
         std::any_of(aggregates.begin(), aggregates.end(), [&](const auto& call) { return call.id == e.column; });
}

class ExpressionBinder {
 public:
  // `clause` names it for messages: "WHERE". Aggregates go to `aggregates`; nullptr where none are allowed.
  ExpressionBinder(StatementState& state, const Scope& scope, const char* clause,
                   std::vector<BoundAggregate>* aggregates)
      : state_(state), scope_(scope), clause_(clause), aggregates_(aggregates) {}

  // The result may still have no type (TypeId::Null): settle() or coerce() gives it one.
  ExpressionPtr bind(const syntax::Expression& e);
  // Bound and of type boolean. Errors: 42804.
  ExpressionPtr bind_condition(const syntax::Expression& e);
  // left = right, for columns that USING merges.
  ExpressionPtr bind_equal(ExpressionPtr left, ExpressionPtr right, int position) {
    return compare(ExpressionKind::Eq, "=", std::move(left), std::move(right), position);
  }
  // The column or aggregate, whatever the name means here.
  const Scope& scope() const { return scope_; }

 private:
  // An operand that is evaluated more than once stands in the tree more than once. Errors: 54001 when such copies are
  // too many.
  void note_copy(const Expression& e);
  ExpressionPtr copy_of(const Expression& e);
  std::vector<ExpressionPtr> bind_all(const syntax::Expressions& list);
  ExpressionPtr condition(ExpressionPtr e, const char* where);
  ExpressionPtr coerced(ExpressionPtr e, Type to) {
    return coerce(std::move(e), to, CastContext::Implicit, state_.parameters);
  }
  ExpressionPtr settled(ExpressionPtr e) { return settle(std::move(e), state_.parameters); }

  // bind_expression.cc
  ExpressionPtr bind_node(const syntax::NullLiteral& node, int position);
  ExpressionPtr bind_node(const syntax::BooleanLiteral& node, int position);
  ExpressionPtr bind_node(const syntax::IntegerLiteral& node, int position);
  ExpressionPtr bind_node(const syntax::NumberLiteral& node, int position);
  ExpressionPtr bind_node(const syntax::StringLiteral& node, int position);
  ExpressionPtr bind_node(const syntax::ColumnName& node, int position);
  ExpressionPtr bind_node(const syntax::Star& node, int position);
  ExpressionPtr bind_node(const syntax::Parameter& node, int position);
  ExpressionPtr bind_node(const syntax::Logical& node, int position);
  ExpressionPtr bind_node(const syntax::IsTest& node, int position);
  ExpressionPtr bind_node(const syntax::Case& node, int position);
  ExpressionPtr bind_node(const syntax::Coalesce& node, int position);
  ExpressionPtr bind_node(const syntax::NullIf& node, int position);
  ExpressionPtr bind_node(const syntax::MinMax& node, int position);
  ExpressionPtr bind_node(const syntax::Cast& node, int position);
  ExpressionPtr bind_node(const syntax::Collate& node, int position);
  ExpressionPtr bind_node(const syntax::CurrentTime& node, int position);
  ExpressionPtr bind_node(const syntax::Default& node, int position);

  // bind_operator.cc
  ExpressionPtr bind_node(const syntax::Operator& node, int position);
  ExpressionPtr bind_node(const syntax::DistinctTest& node, int position);
  ExpressionPtr bind_node(const syntax::Between& node, int position);
  ExpressionPtr bind_node(const syntax::InList& node, int position);
  ExpressionPtr bind_node(const syntax::Like& node, int position);
  ExpressionPtr binary(const std::string& symbol, ExpressionPtr left, ExpressionPtr right, int position);
  ExpressionPtr unary(const std::string& symbol, ExpressionPtr arg, int position);
  ExpressionPtr arithmetic(const std::string& symbol, ExpressionPtr left, ExpressionPtr right, int position);
  ExpressionPtr numeric_arithmetic(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right, int position);
  ExpressionPtr compare(ExpressionKind kind, const std::string& symbol, ExpressionPtr left, ExpressionPtr right,
                        int position);
  ExpressionPtr concatenate(ExpressionPtr left, ExpressionPtr right, int position);
  ExpressionPtr like(std::vector<ExpressionPtr> args, bool ignore_case, int position);
  ExpressionPtr any_equal(const ExpressionPtr& value, std::vector<ExpressionPtr>& items, int position);
  ExpressionPtr in_list(ExpressionPtr value, std::vector<ExpressionPtr> items, int position);
  ExpressionPtr string_in(ExpressionPtr value, std::vector<ExpressionPtr> items, int position);
  ExpressionPtr compare_wide(ExpressionKind kind, ExpressionPtr left, ExpressionPtr right, int position);
  // Gives a literal or parameter the type that it has beside the other.
  void settle_operands(ExpressionPtr& left, ExpressionPtr& right);
  // Casts both to the type in which they are compared; false when there is none.
  bool unify_for_comparison(ExpressionPtr& left, ExpressionPtr& right);

  // bind_call.cc
  ExpressionPtr bind_node(const syntax::Call& node, int position);
  ExpressionPtr aggregate(const syntax::Call& node, AggregateFunction function, int position);
  ExpressionPtr scalar_call(const syntax::Call& node, std::vector<ExpressionPtr> args, int position);
  ExpressionPtr date_field(const std::string& name, std::vector<ExpressionPtr> args, int position);
  ExpressionPtr field_or_infinity(ExpressionPtr field, ExpressionPtr date, bool grows);
  ExpressionPtr truncate_date(std::vector<ExpressionPtr> args, int position);
  ExpressionPtr concat_function(std::vector<ExpressionPtr> args, int position);

  // Casts all to their common type. Errors: 42804 naming `what`.
  Type unify(std::vector<ExpressionPtr>& list, const char* what);

  StatementState& state_;
  const Scope& scope_;
  const char* clause_;
  std::vector<BoundAggregate>* aggregates_;
  bool inside_aggregate_ = false;
};

// Casts all expressions to their common type, text when none has one, and returns it. Errors: 42804 naming `what`.
Type unify_types(std::vector<ExpressionPtr*>& list, const char* what, ParameterTypes& parameters);

}  // namespace diptych
