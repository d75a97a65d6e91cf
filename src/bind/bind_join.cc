#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "bind/select_binder.h"

namespace diptych {

namespace {

// Of one FROM and those around it: plans are taken down by recursion, on any stack.
constexpr int most_joins = 1000;

int table_count(const syntax::TableReference& reference) {
  const auto* join = std::get_if<syntax::TableJoin>(&reference.source);
  return join ? table_count(*join->left) + table_count(*join->right) : 1;
}

// Which of the two types a merged column has. PostgreSQL takes the column of the side that needs no cast, which is as
// good as the other one: they are equal.
ScopeColumn merge(const ScopeColumn& left, const ScopeColumn& right, int position) {
  const Type &l = left.shown, &r = right.shown;
  const std::optional<Type> common = common_type(l, r);
  if (!common) {
    throw Error(SqlState::datatype_mismatch, "JOIN/USING types " + l.name() + " and " + r.name() + " cannot be matched",
                position);
  }
  if (l == r) return left;
  if (l.is_string()) {  // of the left kind, without a length
    ScopeColumn result = left;
    result.shown = {l.id};
    return result;
  }
  // Numerics keep their digits.
  if (l.id == r.id) return left;
  if (common->id == l.id) return left;
  if (common->id == r.id && r.id != TypeId::Numeric) return right;
  ScopeColumn result = left;
  result.shown = r.id == TypeId::Numeric ? numeric_form(l) : *common;
  return result;
}

// The one column of the name on this side of the join.
const ScopeColumn& column_named(const syntax::NamedColumn& name, const Scope& scope, const char* side) {
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& column : scope.columns()) {
    if (column.name != name.name) continue;
    if (found) {
      throw Error(SqlState::ambiguous_column,
                  "common column name \"" + name.name + "\" appears more than once in " + side + " table",
                  name.position);
    }
    found = &column;
  }
  if (!found) {
    throw Error(SqlState::undefined_column,
                "column \"" + name.name + "\" specified in USING clause does not exist in " + side + " table",
                name.position);
  }
  return *found;
}

// Names of columns that both sides have, in the left one's order.
std::vector<syntax::NamedColumn> common_columns(const Scope& left, const Scope& right, int position) {
  std::vector<syntax::NamedColumn> names;
  for (const ScopeColumn& column : left.columns())
    if (right.has_column(column.name)) names.push_back({column.name, position});
  return names;
}

class JoinBinder {
 public:
  JoinBinder(NamedSource left, NamedSource right, StatementState& state)
      : left_(std::move(left)), right_(std::move(right)), state_(state) {
    left_.scope.check_names(right_.scope);
  }

  NamedSource all_pairs() {
    put_together();
    return std::move(result_);
  }

  NamedSource on(const syntax::Expression& condition) {
    put_together();
    ExpressionBinder binder(state_, result_.scope, "JOIN/ON", nullptr);
    result_.source->predicate = binder.bind_condition(condition);
    return std::move(result_);
  }

  NamedSource on_columns(const std::vector<syntax::NamedColumn>& names) {
    for (const syntax::NamedColumn& name : names) add_merged(name);
    ExpressionPtr condition = equal_columns(names);
    put_together();
    result_.source->predicate = std::move(condition);
    return std::move(result_);
  }

  NamedSource natural(int position) { return on_columns(common_columns(left_.scope, right_.scope, position)); }

 private:
  void add_merged(const syntax::NamedColumn& name) {
    for (const ScopeColumn& other : merged_) {
      if (other.name != name.name) continue;
      throw Error(SqlState::duplicate_column,
                  "column name \"" + name.name + "\" appears more than once in USING clause", name.position);
    }
    const ScopeColumn& left = column_named(name, left_.scope, "left");
    const ScopeColumn& right = column_named(name, right_.scope, "right");
    merged_.push_back(merge(left, right, name.position));
  }

  // Null: no columns.
  ExpressionPtr equal_columns(const std::vector<syntax::NamedColumn>& names) {
    ExpressionBinder binder(state_, left_.scope, "JOIN/USING", nullptr);
    std::vector<ExpressionPtr> conditions;
    for (const syntax::NamedColumn& name : names) {
      const syntax::ColumnName column{{name.name}};
      conditions.push_back(binder.bind_equal(left_.scope.resolve(column, name.position),
                                             right_.scope.resolve(column, name.position), name.position));
    }
    if (conditions.empty()) return nullptr;
    if (conditions.size() == 1) return std::move(conditions.front());
    auto all = make_expression(ExpressionKind::And, {TypeId::Boolean}, names.front().position);
    all->args = std::move(conditions);
    return all;
  }

  void put_together() {
    const std::vector<BoundColumn>& columns = right_.source->columns;
    result_.source = make_operator(OperatorKind::Join, std::move(left_.source));
    result_.source->columns.insert(result_.source->columns.end(), columns.begin(), columns.end());
    result_.source->inputs.push_back(std::move(right_.source));
    result_.tables = std::move(left_.tables);
    std::move(right_.tables.begin(), right_.tables.end(), std::back_inserter(result_.tables));
    result_.scope = std::move(left_.scope);
    result_.scope.join(std::move(right_.scope), std::move(merged_));
  }

  NamedSource left_, right_;
  StatementState& state_;
  std::vector<ScopeColumn> merged_;
  NamedSource result_;
};

}  // namespace

NamedSource bind_join(const syntax::TableJoin& join, StatementState& state) {
  NamedSource left = bind_source(*join.left, state);
  NamedSource right = bind_source(*join.right, state);
  JoinBinder binder(std::move(left), std::move(right), state);
  if (join.natural_position >= 0) return binder.natural(join.natural_position);
  if (!join.merged_columns.empty()) return binder.on_columns(join.merged_columns);
  return join.condition ? binder.on(*join.condition) : binder.all_pairs();
}

NamedSource bind_from(const std::vector<syntax::TableReference>& from, StatementState& state) {
  int joins = -1;
  for (const syntax::TableReference& reference : from) joins += table_count(reference);
  state.joins += joins;
  if (state.joins > most_joins) {
    throw Error(SqlState::statement_too_complex,
                "more than " + std::to_string(most_joins) + " joins are inside each other", from.front().position);
  }
  state.deepest_joins = std::max(state.deepest_joins, state.joins);
  NamedSource result = bind_source(from.front(), state);
  for (size_t i = 1; i < from.size(); ++i)
    result = JoinBinder(std::move(result), bind_source(from[i], state), state).all_pairs();
  state.joins -= joins;
  return result;
}

}  // namespace diptych
