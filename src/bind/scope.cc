#include "bind/scope.h"

#include "base/error.h"
#include "base/suggestion.h"
#include "bind/coercion.h"

namespace diptych {

ExpressionPtr Scope::column_expression(size_t index, int position) const {
  auto result = make_expression(ExpressionKind::Column, (*columns_)[index].type, position);
  result->index = static_cast<int32_t>(index);
  return result;
}

// The first `parts` of the name must name the source; before it there may be the one schema, by either of its names.
void Scope::check_qualifier(const std::vector<std::string>& qualifier, size_t parts, int position) const {
  if (parts > 2)
    throw Error(SqlState::feature_not_supported, "a database name before a column is not supported yet", position);
  if (parts == 0) return;
  const std::string& table = qualifier[parts - 1];
  const bool known_schema = parts == 1 || qualifier[0] == "public" || qualifier[0] == "main";
  if (!columns_ || table != name_ || !known_schema) {
    throw Error(SqlState::undefined_table, "missing FROM-clause entry for table \"" + table + "\"", position,
                columns_ && known_schema ? suggest(table, {name_}) : "");
  }
}

ExpressionPtr Scope::resolve(const syntax::ColumnName& name, int position) const {
  check_qualifier(name.parts, name.parts.size() - 1, position);
  const std::string& column = name.parts.back();
  std::vector<std::string> names;
  ExpressionPtr result;
  for (size_t i = 0; columns_ && i < columns_->size(); ++i) {
    names.push_back((*columns_)[i].name);
    if (names.back() != column) continue;
    if (result) throw Error(SqlState::ambiguous_column, "column reference \"" + column + "\" is ambiguous", position);
    result = column_expression(i, position);
  }
  if (result) return result;
  if (columns_ && name.parts.size() == 1 && column == name_)
    throw Error(SqlState::feature_not_supported, "a row as a value is not supported yet", position);
  const std::string shown = name.parts.size() > 1 ? name_ + "." + column : "\"" + column + "\"";
  throw Error(SqlState::undefined_column, "column " + shown + " does not exist", position, suggest(column, names));
}

bool Scope::has_column(const std::string& name) const {
  for (size_t i = 0; columns_ && i < columns_->size(); ++i)
    if ((*columns_)[i].name == name) return true;
  return false;
}

std::vector<ExpressionPtr> Scope::expand(const syntax::Star& star, int position) const {
  check_qualifier(star.qualifier, star.qualifier.size(), position);
  if (!columns_) throw Error(SqlState::syntax_error, "SELECT * with no tables specified is not valid", position);
  std::vector<ExpressionPtr> result;
  for (size_t i = 0; i < columns_->size(); ++i) result.push_back(column_expression(i, position));
  return result;
}

}  // namespace diptych
