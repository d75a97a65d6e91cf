// Binds a query: FROM, then WHERE, the outputs, GROUP BY, HAVING, ORDER BY, LIMIT; last the grouped columns are put in
// place.
#pragma once

#include <string>
#include <vector>

#include "bind/expression_binder.h"
#include "bind/select_clauses.h"

namespace diptych {

// Of the columns of a source those of one table or query.
struct SourceTable {
  std::string name;  // for messages
  std::vector<ColumnId> columns;
  std::vector<ColumnId> primary_key;  // empty: none
};

// A source with what names in the query need to know of it.
struct NamedSource {
  LogicalOperatorPtr source;
  Scope scope;
  std::vector<SourceTable> tables;  // with all columns of the source
};

// bind_source.cc. Errors: 42P01 with a hint, 58P01 and others of opening a file, 42P10 too many column aliases.
NamedSource bind_source(const syntax::TableReference& reference, StatementState& state);
// The source as one table. The name may be empty: then nothing can name it. primary_key: places of its columns.
NamedSource named_source(LogicalOperatorPtr source, const std::string& name, const std::vector<size_t>& primary_key,
                         const StatementState& state, int position = -1);
// bind_join.cc. Errors: 42712 a name twice, 42703, 42702, 42701 and 42804 for columns that USING or NATURAL merge, and
// those of conditions.
NamedSource bind_join(const syntax::TableJoin& join, StatementState& state);
// The tables of FROM, of which there is at least one, joined from the left. Errors: 54001 too many joins are inside
// each other.
NamedSource bind_from(const std::vector<syntax::TableReference>& from, StatementState& state);
// VALUES: rows of cells cast to common types; columns are column1, column2, ...
LogicalOperatorPtr bind_values(const std::vector<syntax::Expressions>& rows, StatementState& state);
// Of tables and views.
std::vector<std::string> relation_names(const CatalogSnapshot& catalog);
// An existing table. Errors: 42P01 with a hint, 42809 a view has the name.
std::shared_ptr<const TableSnapshot> find_table(const syntax::TableName& name, const StatementState& state);

// What literals that nothing gives a type become as outputs: text, or they stay without a type, which INSERT gives
// them. Those that GROUP BY, ORDER BY or DISTINCT look at are text either way.
enum class UntypedOutputs : uint8_t { Text, Keep };
SelectClauses bind_clauses(const syntax::Select& select, StatementState& state, UntypedOutputs untyped);

LogicalOperatorPtr bind_select(const syntax::Select& select, StatementState& state);
// The same of a query inside another one, which is named at `position`. Errors: 54001 too many are inside each other.
LogicalOperatorPtr bind_inner_select(const syntax::Select& select, StatementState& state, int position);

// output_name.cc. The name that PostgreSQL gives an output without AS.
std::string output_name(const syntax::Expression& e);

// A group whose values may be shown differently though they are equal: an aggregate gives the one to show.
struct ShownGroup {
  ExpressionPtr expression;
  ColumnId aggregate = no_column;
};

// grouping.cc. Turns outputs and HAVING, bound over the source's columns, into expressions over the groups and
// aggregates. Columns of a table whose primary key is grouped become groups of their own. Errors: 42803 at a column
// that is not grouped.
void put_grouped_columns_in_place(SelectClauses& select, const std::vector<ShownGroup>& shown,
                                  const std::vector<SourceTable>& tables, StatementState& state);

}  // namespace diptych
