// Binds the statements that make, fill and change tables: CREATE TABLE, CREATE VIEW, INSERT, UPDATE, DELETE, COPY.
#pragma once

#include "bind/select_binder.h"

namespace diptych {

// bind_table.cc. Errors: 42P07 the table exists, 42701 and 42P16 in its definition, 42704 and 0A000 types.
BoundCreateTable bind_create_table(const syntax::CreateTable& node, StatementState& state);

// bind_view.cc. Errors: 42P07 the name is taken, 42809 by a table that is to be replaced, 42601 and 42701 in the column
// names, 42P02 a parameter, and those of the query.
BoundCreateView bind_create_view(const syntax::CreateView& node, StatementState& state);

// bind_insert.cc. Errors: 42703 and 42701 in the column list, 42601 too many or too few values, 42804 a value of the
// wrong type, 42803 aggregates in RETURNING.
BoundInsert bind_insert(const syntax::Insert& node, StatementState& state);

// bind_change.cc. Errors: 0A000 a view, 42703 and 42601 in the columns, 42803 aggregates, 42804 a value of the wrong
// type.
BoundChange bind_change(const syntax::Change& node, StatementState& state);

// bind_returning.cc. What RETURNING asks for, and what the names of columns in it mean.
struct Returned {
  std::vector<SelectClauses::Output> outputs;
  std::vector<std::pair<ColumnId, ColumnId>> stored;  // columns of the table, and of the query that have their values
};
// The query's first `kept` outputs, and those of RETURNING behind them.
LogicalOperatorPtr add_returned(LogicalOperatorPtr query, size_t kept, Returned returned, StatementState& state);
// Errors: 42803 at the first of them.
void refuse_aggregates(const std::vector<BoundAggregate>& aggregates, const char* clause);

// bind_copy.cc. Errors: as bind_insert, and those of file_options().
BoundCopyFrom bind_copy_from(const syntax::Copy& node, StatementState& state);
BoundCopyTo bind_copy_to(const syntax::Copy& node, StatementState& state);

// The positions of the named columns in the table; all columns when none are named.
std::vector<size_t> columns_named(const std::vector<syntax::NamedColumn>& names, const TableDefinition& table);

// The expression as a value to be stored in the column: what a string is cut to, an error where it would be. Errors:
// 42804.
ExpressionPtr assign(ExpressionPtr e, const TableColumn& column, ParameterTypes& parameters);

// The default of a column as an expression over no input; NULL when it has none.
ExpressionPtr bind_default(const TableColumn& column, StatementState& state);

}  // namespace diptych
