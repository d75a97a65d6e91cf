#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/table_binder.h"

namespace diptych {

namespace {

class ChangeBinder {
 public:
  ChangeBinder(const syntax::Change& node, StatementState& state)
      : node_(node), state_(state), table_(find_target()), columns_(table_->definition().columns) {}

  BoundChange run() {
    BoundChange result{node_.table.name, nullptr, node_.is_update};
    if (!node_.query || (!node_.is_update && !node_.query->where)) return result;
    values_.resize(columns_.size());
    const std::vector<size_t> targets = targets_of(node_.columns), defaults = targets_of(node_.defaults);
    SelectClauses clauses = bind_clauses(*node_.query, state_, UntypedOutputs::Keep);
    if (clauses.grouped)
      throw Error(SqlState::grouping_error, "aggregate functions are not allowed in UPDATE", node_.query->position);
    for (size_t i = 0; i < targets.size(); ++i)
      values_[targets[i]] = assign(std::move(clauses.outputs[i].expression), columns_[targets[i]], state_.parameters);
    for (const size_t column : defaults) values_[column] = bind_default(columns_[column], state_);
    clauses.outputs.clear();
    add_outputs(*clauses.source, clauses.outputs);
    clauses.visible_outputs = clauses.outputs.size();
    result.query = make_operators(std::move(clauses), state_.levels());
    return result;
  }

 private:
  std::shared_ptr<const TableSnapshot> find_target() const {
    if (state_.context.catalog.find_view(node_.table.name))
      throw Error(SqlState::feature_not_supported, "changing the rows of a view is not supported",
                  node_.table.position);
    return find_table(node_.table, state_);
  }

  std::vector<size_t> targets_of(const std::vector<syntax::NamedColumn>& names) {
    std::vector<size_t> targets;
    for (const syntax::NamedColumn& name : names) {
      const size_t column = columns_named({name}, table_->definition()).front();
      if (is_set_[column])
        throw Error(SqlState::syntax_error, "multiple assignments to same column \"" + name.name + "\"", name.position);
      is_set_[column] = true;
      targets.push_back(column);
    }
    return targets;
  }

  // The scan's columns are the table's.
  void add_outputs(LogicalOperator& scan, std::vector<SelectClauses::Output>& outputs) {
    check_invariant(scan.kind == OperatorKind::Scan, "a change is of the rows of one table");
    const size_t count = columns_.size();
    const Type bigint{TypeId::BigInt};
    scan.columns.push_back({"row_position", bigint, state_.new_column()});
    scan.source_columns.push_back(row_position);
    outputs.push_back({"row_position", column_expression(scan.columns[count].id, bigint), state_.new_column()});
    for (size_t i = 0; node_.is_update && i < count; ++i) {
      ExpressionPtr value =
          values_[i] ? std::move(values_[i]) : column_expression(scan.columns[i].id, columns_[i].type);
      outputs.push_back({columns_[i].name, std::move(value), state_.new_column()});
    }
  }

  const syntax::Change& node_;
  StatementState& state_;
  std::shared_ptr<const TableSnapshot> table_;
  const std::vector<TableColumn>& columns_;
  std::vector<bool> is_set_ = std::vector<bool>(columns_.size());
  std::vector<ExpressionPtr> values_;  // by column of the table; null: it stays as it is
};

}  // namespace

BoundChange bind_change(const syntax::Change& node, StatementState& state) { return ChangeBinder(node, state).run(); }

}  // namespace diptych
