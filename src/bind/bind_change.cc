#include <algorithm>
#include <iterator>
#include <set>
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
    BoundChange result;
    result.table = address_of(*table_);
    result.is_update = node_.is_update;
    const bool is_of_all = !node_.query || (!node_.is_update && !node_.query->where && node_.returned == 0 &&
                                            node_.query->from.size() == 1 && node_.query->with.empty());
    if (is_of_all) return result;
    values_.resize(columns_.size());
    SelectClauses clauses = bind_clauses(*node_.query, state_, UntypedOutputs::Keep);
    refuse_aggregates(clauses.aggregates, clause_of_aggregates(clauses));
    const std::vector<size_t> targets = targets_of(node_.columns), defaults = targets_of(node_.defaults);
    for (size_t i = 0; i < targets.size(); ++i)
      values_[targets[i]] = assign(std::move(clauses.outputs[i].expression), columns_[targets[i]], state_.parameters);
    for (const size_t column : defaults) values_[column] = bind_default(columns_[column], state_);
    for (const ExpressionPtr& value : values_) result.unchanged.push_back(value == nullptr);
    Returned returned;
    const auto first_returned = clauses.outputs.begin() + static_cast<ptrdiff_t>(targets.size());
    if (node_.returned > 0) std::move(first_returned, clauses.outputs.end(), std::back_inserter(returned.outputs));
    clauses.outputs.clear();
    add_outputs(add_position(*clauses.source), clauses.outputs, returned);
    const size_t stored = clauses.outputs.size();
    pass_others(returned, clauses.outputs);
    clauses.visible_outputs = clauses.outputs.size();
    result.query = make_operators(std::move(clauses), state_.levels());
    if (node_.returned == 0) return result;
    result.query = add_returned(std::move(result.query), stored, std::move(returned), state_);
    result.returned = stored;
    return result;
  }

 private:
  std::shared_ptr<const TableSnapshot> find_target() const {
    if (state_.catalog_of(node_.table).find_view(node_.table.name))
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

  // Where the first of them stands.
  const char* clause_of_aggregates(const SelectClauses& clauses) const {
    if (clauses.aggregates.empty() || node_.returned == 0) return "UPDATE";
    const syntax::SelectItem& first = node_.query->items[node_.query->items.size() - node_.returned];
    return clauses.aggregates.front().position >= first.position ? "RETURNING" : "UPDATE";
  }

  // To the scan of the table, which is the first of the source's, and what joins it with others; its columns are the
  // table's and the position.
  const std::vector<BoundColumn>& add_position(LogicalOperator& source) {
    std::vector<LogicalOperator*> joins;
    LogicalOperator* scan = &source;
    for (; scan->kind == OperatorKind::Join; scan = scan->inputs.front().get()) joins.push_back(scan);
    check_invariant(scan->kind == OperatorKind::Scan, "a change is of the rows of a table, or of its join with others");
    scan->columns.push_back({"row_position", Type{TypeId::BigInt}, state_.new_column()});
    scan->source_columns.push_back(row_position);
    for (LogicalOperator* join : joins)
      join->columns.insert(join->columns.begin() + static_cast<ptrdiff_t>(columns_.size()), scan->columns.back());
    return scan->columns;
  }

  void add_outputs(const std::vector<BoundColumn>& columns, std::vector<SelectClauses::Output>& outputs,
                   Returned& returned) {
    const BoundColumn& position = columns.back();
    outputs.push_back({position.name, column_expression(position.id, position.type), state_.new_column()});
    for (size_t i = 0; node_.is_update && i < columns_.size(); ++i) {
      ExpressionPtr value = values_[i] ? std::move(values_[i]) : column_expression(columns[i].id, columns_[i].type);
      outputs.push_back({columns_[i].name, std::move(value), state_.new_column()});
      returned.stored.push_back({columns[i].id, outputs.back().id});
    }
  }

  // RETURNING names them: columns of other tables, and those of rows that are deleted.
  void pass_others(Returned& returned, std::vector<SelectClauses::Output>& outputs) {
    std::set<ColumnId> known;
    for (const auto& [column, stored] : returned.stored) known.insert(column);
    for (SelectClauses::Output& output : returned.outputs)
      for_each_column(*output.expression, [&](const Expression& column) {
        if (!known.insert(column.column).second) return;
        outputs.push_back({"", column_expression(column.column, column.type), column.column});
      });
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
