#include <algorithm>
#include <utility>

#include "base/error.h"
#include "bind/file_options.h"
#include "bind/table_binder.h"

namespace diptych {

namespace {

// A default as the value that it is. Errors: 0A000 when it takes computing.
Value default_value(const TableColumn& column, StatementState& state) {
  const ExpressionPtr e = bind_default(column, state);
  if (is_constant(*e)) return e->value;
  throw Error(
      SqlState::feature_not_supported,
      "COPY into a table whose column \"" + column.name + "\" has a default that is not a literal is not supported yet",
      -1, "Name all the other columns in COPY, or give the column in the file.");
}

// SELECT of a table's columns, for COPY t TO.
syntax::Select whole_table(const syntax::Copy& node) {
  syntax::Select select;
  select.position = node.table.position;
  syntax::TableReference reference;
  reference.source = node.table;
  reference.position = node.table.position;
  select.from.push_back(std::move(reference));
  const auto add_item = [&](auto what, int position) {
    auto e = std::make_unique<syntax::Expression>();
    e->node = std::move(what);
    e->position = position;
    select.items.push_back({std::move(e), "", position});
  };
  for (const syntax::NamedColumn& column : node.columns) add_item(syntax::ColumnName{{column.name}}, column.position);
  if (node.columns.empty()) add_item(syntax::Star{}, node.table.position);
  return select;
}

// Errors: as file_options(); 42601 an option that COPY has not.
FileOptions copy_options(const syntax::Copy& node) {
  FileOptions options = file_options(node.path, node.options, node.table.position);
  if (options.all_text) throw Error(SqlState::syntax_error, "option all_varchar is for read_csv() alone");
  return options;
}

}  // namespace

BoundCopyFrom bind_copy_from(const syntax::Copy& node, StatementState& state) {
  const std::shared_ptr<const TableSnapshot> table = find_table(node.table, state);
  const TableDefinition& definition = table->definition();
  BoundCopyFrom result;
  result.table = address_of(*table);
  result.path = node.path;
  result.options = copy_options(node);
  if (!result.options.header)
    result.options.header = false;  // as PostgreSQL: COPY looks for a header only when told to
  result.columns = columns_named(node.columns, definition);
  for (size_t i = 0; i < definition.columns.size(); ++i) {
    const TableColumn& column = definition.columns[i];
    const bool is_given = std::find(result.columns.begin(), result.columns.end(), i) != result.columns.end();
    result.defaults.push_back(is_given ? Value::null(column.type) : default_value(column, state));
  }
  return result;
}

BoundCopyTo bind_copy_to(const syntax::Copy& node, StatementState& state) {
  BoundCopyTo result;
  result.path = node.path;
  result.options = copy_options(node);
  if (result.options.match_header)
    throw Error(SqlState::feature_not_supported, "cannot use \"match\" with HEADER in COPY TO");
  if (is_compressed(node.path)) {
    throw Error(SqlState::feature_not_supported, "COPY TO does not compress: '" + node.path + "' is not written", -1,
                "Name a file that does not end in .gz or .zst.");
  }
  result.query = node.query ? bind_select(*node.query, state) : bind_select(whole_table(node), state);
  return result;
}

}  // namespace diptych
