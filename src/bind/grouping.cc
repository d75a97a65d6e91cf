#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/select_binder.h"

namespace diptych {

namespace {

class GroupedColumns {
 public:
  // A table's key counts only if the query itself groups by it, not if another key's columns are groups for it.
  GroupedColumns(SelectClauses& select, const std::vector<ShownGroup>& shown, const std::vector<SourceTable>& tables,
                 StatementState& state)
      : select_(select), shown_(shown), tables_(tables), state_(state) {
    for (const SourceTable& table : tables) {
      const std::vector<ColumnId>& key = table.primary_key;
      const auto grouped = [&](ColumnId column) { return is_grouped(column); };
      is_determined_.push_back(!key.empty() && std::all_of(key.begin(), key.end(), grouped));
    }
  }

  void run() {
    for (SelectClauses::Output& output : select_.outputs) replace_groups(output.expression);
    if (select_.having) replace_groups(select_.having);
  }

 private:
  bool is_grouped(ColumnId column) const {
    return std::any_of(select_.groups.begin(), select_.groups.end(), [&](const SelectClauses::Group& group) {
      return group.expression->kind == ExpressionKind::Column && group.expression->column == column;
    });
  }

  void replace_groups(ExpressionPtr& e) {
    if (is_aggregate(*e, select_.aggregates) || e->kind == ExpressionKind::Constant) return;
    for (const ShownGroup& shown : shown_) {
      if (!e->equals(*shown.expression)) continue;
      e = column_expression(shown.aggregate, e->type, e->position);
      return;
    }
    for (const SelectClauses::Group& group : select_.groups) {
      if (!e->equals(*group.expression)) continue;
      e = column_expression(group.id, e->type, e->position);
      return;
    }
    if (e->kind == ExpressionKind::Column) {
      const size_t table = table_of(*e);
      if (!is_determined_[table]) refuse(*e, tables_[table].name);
      ExpressionPtr column = column_expression(state_.new_column(), e->type, e->position);
      const ColumnId group = column->column;
      select_.groups.push_back({std::exchange(e, std::move(column)), group});
      return;
    }
    for (ExpressionPtr& arg : e->args) replace_groups(arg);
  }

  size_t table_of(const Expression& column) const {
    const auto has_it = [&](const SourceTable& table) {
      return std::find(table.columns.begin(), table.columns.end(), column.column) != table.columns.end();
    };
    return static_cast<size_t>(std::find_if(tables_.begin(), tables_.end(), has_it) - tables_.begin());
  }

  [[noreturn]] void refuse(const Expression& column, const std::string& table) const {
    const std::vector<BoundColumn>& columns = select_.source->columns;
    const std::string& name = columns[place_of(column.column, columns)].name;
    throw Error(
        SqlState::grouping_error,
        "column \"" + table + "." + name + "\" must appear in the GROUP BY clause or be used in an aggregate function",
        column.position);
  }

  SelectClauses& select_;
  const std::vector<ShownGroup>& shown_;
  const std::vector<SourceTable>& tables_;
  StatementState& state_;
  std::vector<bool> is_determined_;  // of each table: its key is grouped
};

}  // namespace

void put_grouped_columns_in_place(SelectClauses& select, const std::vector<ShownGroup>& shown,
                                  const std::vector<SourceTable>& tables, StatementState& state) {
  GroupedColumns(select, shown, tables, state).run();
}

}  // namespace diptych
