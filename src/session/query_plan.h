// The plan and program of a query, or of that in INSERT, UPDATE or DELETE, which one run has and the plan cache keeps
// for the next one.
//
//   in a run    the plan scans tables of one snapshot -> the program reads the same
//   kept        both without the tables, whose names are noted: a kept plan keeps no tablet, and a dropped table goes
//               with its last reader
//
// A kept plan is right whatever rows its tables have, though it was made for as many as there were, and for all values
// of the parameters that stay parameters in it, as far as its facts hold (plan/evaluator.h). A program is right where
// the facts hold that it was compiled for, of the tables (program/source_facts.h) and of the values
// (program/parameters.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bind/logical_operator.h"
#include "plan/evaluator.h"
#include "program/program.h"
#include "session/changed_rows.h"
#include "storage/catalog.h"

namespace diptych {

// What a kept plan is known by. No setting changes what a statement means, only where it runs and with how much memory.
struct PlanKey {
  std::string text;           // of the statement
  bool is_explained = false;  // the plan is that of the query in an EXPLAIN
  uint64_t schema_version = 0;
  std::vector<Type> parameter_types;
  // Of those that stand in the plan as constants; nullopt: it is a parameter of the plan, and not NULL.
  std::vector<std::optional<Value>> parameter_values;

  bool operator==(const PlanKey&) const = default;
  // Of the text and the values, about.
  size_t bytes() const;
};

// What a run takes of an earlier one.
enum class Reused : uint8_t { Nothing, Plan, PlanAndProgram };

// Thread safety: one thread at a time.
class QueryPlan {
 public:
  // key: nothing for a plan that serves one run only. change: what becomes of the rows; nothing: they are the result.
  // columns: of the result. parameters: the values of the statement's.
  QueryPlan(std::optional<PlanKey> key, std::optional<RowChange> change, std::vector<ColumnDefinition> columns,
            LogicalOperatorPtr plan, std::vector<Value> parameters);

  const std::optional<PlanKey>& key() const { return key_; }
  const std::optional<RowChange>& change() const { return change_; }
  const std::vector<ColumnDefinition>& columns() const { return columns_; }
  const LogicalOperator& plan() const { return *plan_; }
  const std::shared_ptr<Program>& program() const { return program_; }  // null: not compiled yet
  bool is_optimized() const { return is_optimized_; }
  Reused reused() const { return reused_; }

  void optimize_with(Evaluator& evaluator);
  void compile_with(Evaluator& evaluator);

  // Whether both serve the same runs, as far as the facts of the plans tell.
  bool replaces(const QueryPlan& other) const;
  // Takes the values of another run's parameters. False: a fact of the plan does not hold for them, and nothing was
  // done.
  bool take_values(const std::vector<Value>& parameters, Evaluator& evaluator);

  // Gives up the tables' rows. False: it can't be kept, since it serves one run only or is not complete.
  bool release_tables() noexcept;
  // Takes the tables of a catalog with the same definitions, after release_tables() and take_values(), and throws the
  // program away if it was compiled for what is no longer so. False: there are, or the values let through, so many more
  // or fewer rows that the plan is to be made anew.
  bool take_tables(const CatalogSnapshot& catalog);

  // What an engine makes of the program, for runs with the same constants.
  std::unique_ptr<KeptPreparation>& preparation() { return preparation_; }

  // Values that the program keeps for look-ups: nearly all of its size, where it is large.
  size_t constants() const;

 private:
  // Where a table's snapshot is held.
  struct Slot {
    std::shared_ptr<const TabletSource>* place;
    TableAddress table;
    int64_t rows;  // when this was made
  };
  static void note(std::shared_ptr<const TabletSource>& place, std::vector<Slot>& slots);
  void note(Expression& parameter);
  // The plan's parameters know the values.
  void tell_values();
  bool estimates_hold();
  bool program_holds(const CatalogSnapshot& catalog) const;
  // is_same: it has the constants and the rows of the run before.
  void number_program(bool is_same);

  std::optional<PlanKey> key_;
  std::optional<RowChange> change_;
  std::vector<ColumnDefinition> columns_;
  LogicalOperatorPtr plan_;
  // The plan's parameters: the statement's, then those that are computed from them.
  std::vector<Value> values_;
  size_t given_ = 0;
  std::vector<ExpressionPtr> computed_;
  std::vector<PlanFact> facts_;
  std::vector<Expression*> parameters_;          // of the plan
  std::vector<const LogicalOperator*> filters_;  // with parameters, where there are joins to put in order
  bool is_optimized_ = false;
  std::shared_ptr<Program> program_;
  std::unique_ptr<KeptPreparation> preparation_;
  std::vector<Slot> plan_slots_, program_slots_;
  uint64_t version_ = 0;               // of the catalog for which the facts held last; 0: not known
  std::vector<Value> program_values_;  // that the program has
  Reused reused_ = Reused::Nothing;
};

}  // namespace diptych
