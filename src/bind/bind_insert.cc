#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/suggestion.h"
#include "bind/table_binder.h"

namespace diptych {

namespace {

class InsertBinder {
 public:
  InsertBinder(const syntax::Insert& node, StatementState& state)
      : node_(node),
        state_(state),
        table_(find_table(node.table, state)),
        targets_(columns_named(node.columns, table_->definition())) {}

  BoundInsert run() {
    BoundInsert result;
    result.table = address_of(*table_);
    if (!node_.query)
      query_.visible_outputs = 0;
    else if (!node_.query->rows.empty() && is_plain_values())
      bind_rows();
    else
      bind_query();
    fill_defaults();
    const size_t stored = query_.visible_outputs;
    result.query = make_operators(std::move(query_), state_.levels());
    if (!node_.returning) return result;
    SelectClauses asked = bind_clauses(*node_.returning, state_, UntypedOutputs::Text);
    refuse_aggregates(asked.aggregates, "RETURNING");
    Returned returned{std::move(asked.outputs), {}};
    for (size_t i = 0; i < stored; ++i)
      returned.stored.push_back({asked.source->columns[i].id, result.query->columns[i].id});
    result.query = add_returned(std::move(result.query), stored, std::move(returned), state_);
    result.returned = stored;
    return result;
  }

 private:
  const TableColumn& target(size_t i) const { return table_->definition().columns[targets_[i]]; }

  bool is_plain_values() const {
    const syntax::Select& query = *node_.query;
    return query.with.empty() && query.order.empty() && !query.limit && !query.offset;
  }

  void check_count(size_t count, int position) const {
    if (count > targets_.size())
      throw Error(SqlState::syntax_error, "INSERT has more expressions than target columns", position);
    if (count < targets_.size() && !node_.columns.empty()) {
      throw Error(SqlState::syntax_error, "INSERT has more target columns than expressions",
                  node_.columns[count].position);
    }
  }

  // Each cell is cast to its column on its own: the rows need have nothing in common.
  void bind_rows() {
    const std::vector<syntax::Expressions>& rows = node_.query->rows;
    const size_t width = rows.front().size();
    check_count(width, rows.front()[std::min(width, targets_.size() + 1) - 1]->position);
    const Scope nothing;
    ExpressionBinder binder(state_, nothing, "VALUES", nullptr);
    std::vector<BoundColumn> columns;
    for (size_t i = 0; i < width; ++i) columns.push_back({target(i).name, target(i).type, state_.new_column()});
    for (const BoundColumn& column : columns) add_output(column.name, column_expression(column.id, column.type));
    query_.source = make_scan(ScanOf::Values, "VALUES", std::move(columns));
    std::vector<ExpressionPtr>& cells = query_.source->expressions;
    cells.reserve(rows.size() * width);
    for (const syntax::Expressions& row : rows) {
      if (row.size() != width)
        throw Error(SqlState::syntax_error, "VALUES lists must all be the same length", row.front()->position);
      for (size_t i = 0; i < width; ++i) {
        const bool is_default = std::holds_alternative<syntax::Default>(row[i]->node);
        cells.push_back(is_default ? bind_default(target(i), state_)
                                   : assign(binder.bind(*row[i]), target(i), state_.parameters));
      }
    }
    query_.visible_outputs = width;
  }

  void bind_query() {
    query_ = bind_clauses(*node_.query, state_, UntypedOutputs::Keep);
    const size_t count = query_.visible_outputs;
    const size_t last = std::min(count, targets_.size() + 1);
    check_count(count, last == 0 ? -1 : query_.outputs[last - 1].expression->position);
    if (query_.distinct) group_instead_of_distinct();
    for (size_t i = 0; i < count; ++i) assign_output(i);
  }

  // DISTINCT looks at the outputs before they are cast to the columns; as groups they stay what they were.
  void group_instead_of_distinct() {
    if (query_.grouped) {
      const bool unchanged = targets_.size() == table_->definition().columns.size() && is_identity();
      if (unchanged) return;
      throw Error(SqlState::feature_not_supported,
                  "INSERT of a grouped SELECT DISTINCT with casts or defaults is not supported yet",
                  node_.query->position);
    }
    for (size_t i = 0; i < query_.visible_outputs; ++i) {
      ExpressionPtr& e = query_.outputs[i].expression;
      const ColumnId group = state_.new_column();
      ExpressionPtr column = column_expression(group, e->type, e->position);
      query_.groups.push_back({std::exchange(e, std::move(column)), group});
    }
    query_.distinct = false;
    query_.grouped = true;
  }

  bool is_identity() const {
    for (size_t i = 0; i < query_.visible_outputs; ++i)
      if (targets_[i] != i || query_.outputs[i].expression->type != target(i).type) return false;
    return query_.visible_outputs == targets_.size();
  }

  // Rows are ordered by the output as it was, not as it is stored.
  void assign_output(size_t i) {
    if (query_.outputs[i].expression->type == target(i).type) return;
    keep_order_key(i);
    query_.outputs[i].expression = assign(std::move(query_.outputs[i].expression), target(i), state_.parameters);
  }

  void keep_order_key(size_t output) {
    const bool is_key = std::any_of(query_.order.begin(), query_.order.end(),
                                    [&](const SelectClauses::OrderKey& key) { return key.output == output; });
    if (!is_key) return;
    add_output("", query_.outputs[output].expression->clone());
    for (SelectClauses::OrderKey& key : query_.order)
      if (key.output == output) key.output = query_.outputs.size() - 1;
  }

  void add_output(std::string name, ExpressionPtr expression) {
    query_.outputs.push_back({std::move(name), std::move(expression), state_.new_column()});
  }

  // Puts the outputs in the table's order with the defaults between them; hidden outputs move behind.
  void fill_defaults() {
    const std::vector<TableColumn>& columns = table_->definition().columns;
    const size_t given = query_.visible_outputs;
    std::vector<size_t> new_place(query_.outputs.size());
    std::vector<SelectClauses::Output> outputs(columns.size());
    for (size_t i = 0; i < given; ++i) {
      outputs[targets_[i]] = std::move(query_.outputs[i]);
      new_place[i] = targets_[i];
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!outputs[i].expression) outputs[i] = {"", bind_default(columns[i], state_), state_.new_column()};
      outputs[i].name = columns[i].name;
    }
    for (size_t i = given; i < query_.outputs.size(); ++i) {
      new_place[i] = outputs.size();
      outputs.push_back(std::move(query_.outputs[i]));
    }
    for (SelectClauses::OrderKey& key : query_.order) key.output = new_place[key.output];
    query_.outputs = std::move(outputs);
    query_.visible_outputs = columns.size();
  }

  const syntax::Insert& node_;
  StatementState& state_;
  std::shared_ptr<const TableSnapshot> table_;
  std::vector<size_t> targets_;
  SelectClauses query_;
};

}  // namespace

std::vector<size_t> columns_named(const std::vector<syntax::NamedColumn>& names, const TableDefinition& table) {
  std::vector<size_t> result;
  if (names.empty()) {
    for (size_t i = 0; i < table.columns.size(); ++i) result.push_back(i);
    return result;
  }
  for (const syntax::NamedColumn& name : names) {
    const std::optional<size_t> column = table.find_column(name.name);
    if (!column) {
      std::vector<std::string> known;
      for (const TableColumn& other : table.columns) known.push_back(other.name);
      throw Error(SqlState::undefined_column,
                  "column \"" + name.name + "\" of relation \"" + table.name + "\" does not exist", name.position,
                  suggest(name.name, known));
    }
    if (std::find(result.begin(), result.end(), *column) != result.end()) {
      throw Error(SqlState::duplicate_column, "column \"" + name.name + "\" specified more than once", name.position);
    }
    result.push_back(*column);
  }
  return result;
}

BoundInsert bind_insert(const syntax::Insert& node, StatementState& state) { return InsertBinder(node, state).run(); }

}  // namespace diptych
