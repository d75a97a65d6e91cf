#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/select_binder.h"

namespace diptych {

namespace {

class GroupedColumns {
 public:
  // A table's key counts only if the query itself groups by it, not if another key's columns are groups for it.
  GroupedColumns(BoundSelect& select, const std::vector<ShownGroup>& shown, const std::vector<SourceTable>& tables)
      : select_(select), shown_(shown), tables_(tables) {
    for (const SourceTable& table : tables) {
      const std::vector<size_t>& key = table.primary_key;
      const auto grouped = [&](size_t column) { return is_grouped(column); };
      is_determined_.push_back(!key.empty() && std::all_of(key.begin(), key.end(), grouped));
    }
  }

  void run() {
    for (BoundOutput& output : select_.outputs) replace_groups(output.expression);
    if (select_.having) replace_groups(select_.having);
    // Only now is the number of groups known, behind which the aggregates stand.
    for (BoundOutput& output : select_.outputs) place_aggregates(*output.expression);
    if (select_.having) place_aggregates(*select_.having);
  }

 private:
  bool is_grouped(size_t column) const {
    return std::any_of(select_.groups.begin(), select_.groups.end(), [&](const ExpressionPtr& group) {
      return group->kind == ExpressionKind::Column && group->index == static_cast<int32_t>(column);
    });
  }

  void replace_groups(ExpressionPtr& e) {
    if (is_aggregate_slot(*e) || e->kind == ExpressionKind::Constant) return;
    for (const ShownGroup& shown : shown_) {
      if (!e->equals(*shown.expression)) continue;
      auto slot = make_expression(ExpressionKind::Column, e->type, e->position);
      slot->index = aggregate_slot(shown.aggregate);
      e = std::move(slot);
      return;
    }
    for (size_t i = 0; i < select_.groups.size(); ++i) {
      if (!e->equals(*select_.groups[i])) continue;
      e = group_column(i, e->position);
      return;
    }
    if (e->kind == ExpressionKind::Column) {
      const size_t table = table_of(*e);
      if (!is_determined_[table]) refuse(*e, tables_[table].name);
      const int position = e->position;
      select_.groups.push_back(std::move(e));
      e = group_column(select_.groups.size() - 1, position);
      return;
    }
    for (ExpressionPtr& arg : e->args) replace_groups(arg);
  }

  ExpressionPtr group_column(size_t group, int position) const {
    auto column = make_expression(ExpressionKind::Column, select_.groups[group]->type, position);
    column->index = static_cast<int32_t>(group);
    return column;
  }

  size_t table_of(const Expression& column) const {
    const auto index = static_cast<size_t>(column.index);
    size_t table = 0;
    while (index >= tables_[table].first_column + tables_[table].column_count) ++table;
    return table;
  }

  [[noreturn]] void refuse(const Expression& column, const std::string& table) const {
    const std::string& name = select_.source.columns[static_cast<size_t>(column.index)].name;
    throw Error(
        SqlState::grouping_error,
        "column \"" + table + "." + name + "\" must appear in the GROUP BY clause or be used in an aggregate function",
        column.position);
  }

  void place_aggregates(Expression& e) const {
    if (is_aggregate_slot(e)) e.index = static_cast<int32_t>(select_.groups.size() + aggregate_number(e));
    for (const ExpressionPtr& arg : e.args) place_aggregates(*arg);
  }

  BoundSelect& select_;
  const std::vector<ShownGroup>& shown_;
  const std::vector<SourceTable>& tables_;
  std::vector<bool> is_determined_;  // of each table: its key is grouped
};

}  // namespace

void put_grouped_columns_in_place(BoundSelect& select, const std::vector<ShownGroup>& shown,
                                  const std::vector<SourceTable>& tables) {
  GroupedColumns(select, shown, tables).run();
}

}  // namespace diptych
