// Statements that are no query and do not change the rows that one gives: they change which tables there are, settings
// or files, or tell about them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "bind/bound_statement.h"
#include "session/changed_rows.h"
#include "session/connection.h"
#include "sql/syntax_tree.h"

namespace diptych {

struct CommandResult {
  std::shared_ptr<const TabletSource> rows;  // null: none
  int64_t rows_changed = -1;
};

// What a statement's text took before it ran, and the key by which the plan of the query in an EXPLAIN is kept, if it
// is.
struct TextTimes {
  int64_t parse_nanoseconds = 0, bind_nanoseconds = 0;
  std::optional<PlanKey> explained_key = {};
};

// The columns of the rows that a statement which is no query gives; empty for those without rows.
std::vector<ColumnDefinition> command_columns(const BoundStatement& statement);

// Of a statement that changes tables or views, those that it changes, makes or drops; empty: it changes none.
std::vector<syntax::TableName> tables_changed_by(const syntax::Statement& statement);

// Whether it changes which tables and views there are, or empties a table, and takes no rows of a query.
bool defines_tables(const syntax::Statement& statement);
// Whether it changes rows of tables that are there, as INSERT does, and not TRUNCATE.
bool changes_rows_alone(const syntax::Statement& statement);
// Whether it stores rows that come from no table: those of VALUES, or one of a SELECT without FROM.
bool stores_rows_of_no_table(const syntax::Statement& statement);
// Whether it may come after a statement of its transaction has failed: COMMIT, ROLLBACK, ROLLBACK TO.
bool may_follow_failure(const syntax::Statement& statement);
// Whether it neither reads nor changes rows: SET, SHOW, BEGIN, CHECKPOINT and their kin.
bool is_about_session(const syntax::Statement& statement);

// Runs the command; its queries are moved out of the statement. `writing` is that of a statement that changes tables,
// which was bound to the tables it sees, and which the caller finishes, if it is not yet; else null.
CommandResult run_command(Connection& connection, Writing* writing, BoundStatement& statement,
                          const std::vector<Value>& parameters, const TextTimes& times);

// SHOW devices: device, name, memory, bandwidth, driver, unusable; the CPU first. An API that is not there has a row
// that says so.
std::vector<Value> device_cells(Connection& connection);

// What a statement that EXPLAIN tells of does with the rows of the query inside, where it changes a table.
struct ExplainedChange {
  const char* kind = "";
  std::string line;  // of the plan, above those of the query
  std::string table;
  // Makes the change and says how many rows it has changed. rows: null: there is no query.
  std::function<int64_t(std::shared_ptr<const TabletSource> rows, ChangeTimes& times)> make;
  int64_t all_rows = 0;  // of the table, where there is no query
};

// What EXPLAIN tells: lines of text, or one text of JSON. inner: null: there is no query, only a change. change:
// nothing: the query inside is all that the statement does, or that is told of. writing: where it is to be made; it is
// finished then.
std::vector<std::string> explain(Connection& connection, LogicalOperatorPtr inner, const BoundExplain& command,
                                 const std::optional<ExplainedChange>& change, Writing* writing,
                                 const TextTimes& times);

}  // namespace diptych
