// The columns that names in an expression can mean: those of the one source in FROM.
#pragma once

#include <string>
#include <vector>

#include "bind/expression.h"
#include "sql/syntax_tree.h"
#include "tablet/tablet_source.h"

namespace diptych {

class Scope {
 public:
  // No FROM: no names.
  Scope() = default;
  // `name` is the alias, or the table's own name.
  Scope(std::string name, const std::vector<ColumnDefinition>& columns) : name_(std::move(name)), columns_(&columns) {}

  // Errors: 42703 and 42P01 with a hint, 42702 when two columns have the name.
  ExpressionPtr resolve(const syntax::ColumnName& name, int position) const;
  // Whether a column has this name.
  bool has_column(const std::string& name) const;
  // The columns of * and t.*, in order. Errors: 42P01, and 42601 without a FROM.
  std::vector<ExpressionPtr> expand(const syntax::Star& star, int position) const;
  const ColumnDefinition& column(size_t index) const { return (*columns_)[index]; }

 private:
  void check_qualifier(const std::vector<std::string>& qualifier, size_t parts, int position) const;
  ExpressionPtr column_expression(size_t index, int position) const;

  std::string name_;
  const std::vector<ColumnDefinition>* columns_ = nullptr;
};

}  // namespace diptych
