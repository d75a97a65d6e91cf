#include "bind/scope.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/suggestion.h"
#include "bind/coercion.h"

namespace diptych {

namespace {

ExpressionPtr value_of(const ScopeColumn& column, int position) {
  ExpressionPtr result = column_expression(column.id, column.type, position);
  if (column.shown == column.type) return result;
  ParameterTypes none;
  return coerce(std::move(result), column.shown, CastContext::Implicit, none);
}

bool any_named(const std::vector<ScopeColumn>& columns, const std::string& name) {
  return std::any_of(columns.begin(), columns.end(), [&](const ScopeColumn& column) { return column.name == name; });
}

// The one column of this name; nullptr: none. Errors: 42702.
const ScopeColumn* find_column(const std::vector<ScopeColumn>& columns, const std::string& name, int position) {
  const ScopeColumn* found = nullptr;
  for (const ScopeColumn& column : columns) {
    if (column.name != name) continue;
    if (found) throw Error(SqlState::ambiguous_column, "column reference \"" + name + "\" is ambiguous", position);
    found = &column;
  }
  return found;
}

}  // namespace

Scope::Scope(ScopeTable table, const Scope* around) : has_from_(true), columns_(table.columns), around_(around) {
  tables_.push_back(std::move(table));
}

void Scope::note_table(std::string own_name, std::string alias) {
  noted_.push_back({std::move(own_name), std::move(alias)});
}

void Scope::take_names(Scope from) {
  has_from_ = from.has_from_;
  columns_ = std::move(from.columns_);
  tables_ = std::move(from.tables_);
}

// What find(scope) finds in the innermost scope that has it; nullptr: none has.
template <typename Find>
auto Scope::find_innermost(int position, const Find& find) const {
  for (const Scope* scope = this; scope; scope = scope->around_) {
    const auto* found = find(*scope);
    if (!found) continue;
    if (scope != this)
      throw Error(SqlState::feature_not_supported, "a column of a query around this one is not supported yet",
                  position);
    return found;
  }
  return decltype(find(*this)){};
}

const ScopeTable* Scope::find_table(const std::string& name) const {
  for (const ScopeTable& table : tables_)
    if (table.name == name) return &table;
  return nullptr;
}

// The table that the first `parts` of the name mean; before it there may be the one schema, by either of its names.
const ScopeTable& Scope::table_of(const std::vector<std::string>& qualifier, size_t parts, int position) const {
  if (parts > 2)
    throw Error(SqlState::feature_not_supported, "a database name before a column is not supported yet", position);
  const std::string& name = qualifier[parts - 1];
  if (parts == 2 && qualifier[0] != "public" && qualifier[0] != "main")
    throw Error(SqlState::undefined_table, "missing FROM-clause entry for table \"" + name + "\"", position);
  const auto* table = find_innermost(position, [&](const Scope& scope) { return scope.find_table(name); });
  if (!table) refuse_table(name, position);
  return *table;
}

// Those of the query itself are looked at first, then those of the queries around it.
void Scope::refuse_table(const std::string& name, int position) const {
  for (const Scope* scope = this; scope; scope = scope->around_) {
    for (const TableNames& other : scope->noted_) {
      if (other.own_name != name && other.alias != name) continue;
      const bool is_hidden_by_alias = other.alias != name && find_table(other.alias);
      throw Error(SqlState::undefined_table, "invalid reference to FROM-clause entry for table \"" + name + "\"",
                  position,
                  is_hidden_by_alias ? "Perhaps you meant to reference the table alias \"" + other.alias + "\"."
                                     : "There is an entry for table \"" + name +
                                           "\", but it cannot be referenced from this part of the query.");
    }
  }
  std::vector<std::string> names;
  for (const ScopeTable& table : tables_) names.push_back(table.name);
  throw Error(SqlState::undefined_table, "missing FROM-clause entry for table \"" + name + "\"", position,
              suggest(name, names));
}

void Scope::refuse_column(const std::string& name, const ScopeTable* table, int position) const {
  if (!table && find_table(name))
    throw Error(SqlState::feature_not_supported, "a row as a value is not supported yet", position);
  std::vector<std::string> names;
  for (const ScopeColumn& column : table ? table->columns : columns_) names.push_back(column.name);
  const std::string shown = table ? table->name + "." + name : "\"" + name + "\"";
  throw Error(SqlState::undefined_column, "column " + shown + " does not exist", position, suggest(name, names));
}

ExpressionPtr Scope::resolve(const syntax::ColumnName& name, int position) const {
  const size_t parts = name.parts.size() - 1;
  const ScopeTable* table = parts > 0 ? &table_of(name.parts, parts, position) : nullptr;
  const std::string& wanted = name.parts.back();
  const auto of_scope = [&](const Scope& scope) { return find_column(scope.columns_, wanted, position); };
  const ScopeColumn* found = table ? find_column(table->columns, wanted, position) : find_innermost(position, of_scope);
  if (!found) refuse_column(wanted, table, position);
  return value_of(*found, position);
}

bool Scope::has_column(const std::string& name) const { return any_named(columns_, name); }

std::vector<NamedExpression> Scope::expand(const syntax::Star& star, int position) const {
  const size_t parts = star.qualifier.size();
  const ScopeTable* table = parts > 0 ? &table_of(star.qualifier, parts, position) : nullptr;
  if (!has_from_) throw Error(SqlState::syntax_error, "SELECT * with no tables specified is not valid", position);
  std::vector<NamedExpression> result;
  for (const ScopeColumn& column : table ? table->columns : columns_)
    result.push_back({column.name, value_of(column, position)});
  return result;
}

void Scope::check_names(const Scope& right) const {
  for (const ScopeTable& table : right.tables_)
    if (!table.name.empty() && find_table(table.name))
      throw Error(SqlState::duplicate_alias, "table name \"" + table.name + "\" specified more than once",
                  table.position);
}

void Scope::join(Scope right, std::vector<ScopeColumn> merged) {
  const size_t count = merged.size();
  const auto add_rest = [&](std::vector<ScopeColumn>& columns) {
    for (ScopeColumn& column : columns) {
      const auto end = merged.begin() + static_cast<ptrdiff_t>(count);
      const bool is_merged =
          std::any_of(merged.begin(), end, [&](const ScopeColumn& other) { return other.name == column.name; });
      if (!is_merged) merged.push_back(std::move(column));
    }
  };
  add_rest(columns_);
  add_rest(right.columns_);
  columns_ = std::move(merged);
  std::move(right.tables_.begin(), right.tables_.end(), std::back_inserter(tables_));
}

}  // namespace diptych
