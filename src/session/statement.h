// The life of one statement, stage by stage. Read this class first: each getter runs its stage when first asked, out of
// the one before.
//
//   text
//    -> syntax_tree()      src/sql      what was written
//    -> bound()            src/bind     what it means, against a snapshot of the catalog: names and types settled, a
//    query
//                                       as operators in the order that SQL's semantics give
//    -> logical_plan()     src/plan     the operators of this run: VALUES and LIMIT have their values, parameters know
//    theirs
//    -> optimized_plan()   src/plan     the same rows with less work, whatever the values of parameters
//    -> program()          src/program  opcodes
//    -> run()              src/engine   tablets of result rows
//
// INSERT, UPDATE and DELETE run the query that is inside of them, and then change the rows that it gave
// (changed_rows.h). Rows of VALUES that are stored as they stand need no program. Other statements that are no query
// (CREATE, COPY, SET, ...) leave the path after bound() and run as commands (commands.h), which use a Statement of
// their own for a query inside them.
//
// All stages from bound() on belong to one run and see the tables of one moment: of a query, the moment the run starts;
// of a statement that changes tables, the moment it became the one writer, until it has committed; an INSERT of rows of
// no table, that is a transaction of its own, sees none, and commits in a group. After the run they
// are forgotten, but for plan and program, which the connection's plan cache keeps without the tables: the next run of
// the text starts with them, as far as they are right for the tables of its moment, and without the stages before. What
// is told before the run (columns, parameters) comes from the cache, or from binding to the tables of that time; the
// bound tree is kept without its snapshot, and serves the first run if no one has committed since.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bind/bound_statement.h"
#include "engine/engine.h"
#include "session/connection.h"
#include "session/query_plan.h"
#include "sql/syntax_tree.h"

namespace diptych {

enum class Stage : uint8_t { Parse, Bind, Plan, Optimize, Compile, Run };
inline constexpr size_t stage_count = 6;
const char* name_of(Stage stage);

// Thread safety: as its connection, for one thread at a time.
class Statement {
 public:
  // `text` is one statement. Nothing is done yet.
  Statement(Connection& connection, std::string text);
  // A query that is bound already: the inside of CREATE TABLE, COPY, EXPLAIN. Its plan is kept by the key, if there is
  // one.
  Statement(Connection& connection, LogicalOperatorPtr query, std::optional<PlanKey> key = {});
  ~Statement();

  // Whether the text has no words in it, so that there is nothing to do. Errors: 42601.
  bool is_empty();
  const syntax::Statement& syntax_tree();
  const BoundStatement& bound();
  const LogicalOperator& logical_plan();
  const LogicalOperator& optimized_plan();
  const Program& program();
  // Runs the statement; afterwards it can run again. Rows of a query; a source without columns otherwise. Errors: 0A000
  // the tables have changed, and so would the columns that were told; 42P02 a parameter without a value.
  std::shared_ptr<const TabletSource> run();
  // As run(), filling the profile.
  std::shared_ptr<const TabletSource> run_profiled(ExecutionProfile& profile);

  bool is_query();
  // Names and types of the result's columns, once told the same for ever.
  const std::vector<ColumnDefinition>& columns();
  // Types of the parameters, once told the same for ever, and their values, which stay for further runs.
  const std::vector<Type>& parameter_types();
  void bind_parameter(size_t index, Value value);

  // Rows that INSERT, UPDATE, DELETE, TRUNCATE, COPY or CREATE TABLE AS changed; -1 for other statements.
  int64_t rows_changed() const { return rows_changed_; }
  // Of the last run, and of what came before it.
  int64_t nanoseconds(Stage stage) const { return nanoseconds_[static_cast<size_t>(stage)]; }
  // By the last run, of an earlier one.
  Reused reused() const { return reused_; }
  Connection& connection() { return connection_; }

 private:
  // What the caller is told.
  struct Description {
    bool is_query = false;
    bool is_planned = false;  // a query, or a change of the rows that one gives
    std::vector<ColumnDefinition> columns;
    std::vector<Type> parameters;
    std::vector<bool> of_plan;  // those that the plan depends on (session/parameters.h)
  };
  class RunEnd;
  class FailureGuard;

  // Reads the text, of which it is told whether there is anything in it. Errors: 42601; 25P02 when only COMMIT and
  // ROLLBACK may come.
  bool read();
  // Binds to the catalog of the run, which begins.
  void bind_for_run();
  // Of a statement that changes tables: it becomes the one writer, if it is not. Errors: as Connection::begin_write().
  void begin_writing();
  std::shared_ptr<const CatalogSnapshot> catalog();
  const Description& description();
  // Of a statement without parameters.
  static Description description_of(const QueryPlan& plan);
  // Binds, and describes what was not described yet. Errors: 0A000 what was described is no longer true.
  void bind_to(const CatalogSnapshot& catalog);
  BoundStatement bind_afresh(const CatalogSnapshot& catalog, std::vector<Type> parameters);
  std::vector<Value> parameter_values() const;
  // By which a plan of this statement is kept; nothing: it is for one run only. of_plan: of the parameters, those that
  // stand in the plan as constants, besides NULLs.
  std::optional<PlanKey> plan_key(uint64_t schema_version, const std::vector<bool>& of_plan) const;
  // Takes a plan that was kept, with the tables of now. False: there is none, or it is for others.
  bool reuse_plan();
  std::unique_ptr<QueryPlan> take_plan(const PlanKey& key);
  std::shared_ptr<const TabletSource> run_query(ExecutionProfile* profile);
  // Of the query of a change; rows of VALUES that are stored as they stand need no program.
  std::shared_ptr<const TabletSource> rows_of_change();
  // Of an INSERT that is a transaction of its own, of rows of no table: they are made before it waits for other
  // writers, and committed with rows of others. Nothing: it is no such statement, or what tables there are has changed
  // meanwhile.
  std::optional<std::shared_ptr<const TabletSource>> insert_in_group();
  // These give the rows that are handed out; null: none.
  std::shared_ptr<const TabletSource> run_change();
  std::shared_ptr<const TabletSource> run_as_command();

  Connection& connection_;
  std::string text_;
  std::shared_ptr<const syntax::Statement> syntax_tree_;
  std::optional<Description> description_;
  std::vector<std::optional<Value>> parameter_values_;
  std::unique_ptr<BoundStatement> bound_;
  uint64_t bound_version_ = 0, bound_schema_version_ = 0;  // of the catalog
  std::optional<PlanKey> given_key_;                       // of a query that was bound already
  // Files that FROM names, each opened once a run: a pipe can't be read twice.
  struct OpenFile {
    std::string path;
    FileOptions options;
    std::shared_ptr<const TabletSource> source;
  };
  std::vector<OpenFile> files_;
  // Of a run:
  bool is_running_ = false;
  bool was_run_ = false;
  std::optional<Writing> writing_;  // of a statement that changes tables
  std::unique_ptr<QueryPlan> plan_;
  Reused reused_ = Reused::Nothing;
  int64_t rows_changed_ = -1;
  std::array<int64_t, stage_count> nanoseconds_{};
};

}  // namespace diptych
