// The columns that names in an expression can mean: those of the tables in FROM, and of the queries around. Scopes are
// a chain: a name means what the innermost scope has of that name.
//
//   FROM a JOIN b USING (x)      visible: x, rest of a, rest of b     what * is, and what a bare name can mean
//                                tables:  a: all of a; b: all of b    what a.* is, and what a.x can mean
//   FROM (a JOIN b ON ...) AS j  tables:  j: what was visible         the names a and b are hidden
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bind/expression.h"
#include "sql/syntax_tree.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct ScopeColumn {
  std::string name;
  ColumnId id = no_column;  // of the source
  Type type;                // of the source's column
  Type shown;               // which the name has: another one where USING merges columns of two types
};

struct ScopeTable {
  std::string name;  // alias or own name; empty: it can't be named
  std::vector<ScopeColumn> columns;
  int position = -1;
};

struct NamedExpression {
  std::string name;
  ExpressionPtr expression;
};

class Scope {
 public:
  // Without names, inside of `around`, which must outlive it; nullptr: inside of none.
  explicit Scope(const Scope* around = nullptr) : around_(around) {}
  Scope(ScopeTable table, const Scope* around);

  // Errors: 42703 and 42P01 with a hint, 42702 when two columns have the name, 0A000 what it means is of a scope
  // around.
  ExpressionPtr resolve(const syntax::ColumnName& name, int position) const;
  // Whether a column has this name.
  bool has_column(const std::string& name) const;
  // The columns of * and t.*, in order. Errors: 42P01, 0A000, and 42601 without a FROM.
  std::vector<NamedExpression> expand(const syntax::Star& star, int position) const;

  // Those that may be named without their table, in the order of *.
  const std::vector<ScopeColumn>& columns() const { return columns_; }
  const Scope* around() const { return around_; }

  // FROM names a table, perhaps out of reach: for messages. own_name: empty if it has none.
  void note_table(std::string own_name, std::string alias);
  // The names of `from` become this scope's, which had none.
  void take_names(Scope from);
  // Errors: 42712 a table of the other side of a join has the name of one here.
  void check_names(const Scope& right) const;
  // Adds what stands on the other side of a join, after check_names(). The columns that USING merges come first, and
  // once.
  void join(Scope right, std::vector<ScopeColumn> merged);

 private:
  // A table that FROM has named.
  struct TableNames {
    std::string own_name, alias;
  };

  template <typename Find>
  auto find_innermost(int position, const Find& find) const;
  const ScopeTable& table_of(const std::vector<std::string>& qualifier, size_t parts, int position) const;
  const ScopeTable* find_table(const std::string& name) const;
  [[noreturn]] void refuse_table(const std::string& name, int position) const;
  [[noreturn]] void refuse_column(const std::string& name, const ScopeTable* table, int position) const;

  bool has_from_ = false;
  std::vector<ScopeColumn> columns_;
  std::vector<ScopeTable> tables_;
  std::vector<TableNames> noted_;
  const Scope* around_ = nullptr;
};

}  // namespace diptych
