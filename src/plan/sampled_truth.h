// For which of a table's sampled rows a condition is true.
#pragma once

#include <optional>
#include <vector>

#include "bind/logical_operator.h"
#include "tablet/statistics/sorted_sample.h"

namespace diptych {

enum class Truth : uint8_t { False, True, Unknown };

// Looks at the sample of the one table that the columns of all its conditions are from. Conditions that a sample can
// tell are comparisons of columns with constants of their type and with other columns of it, IN lists, LIKE, IS [NOT]
// NULL, columns of truth values, and AND, OR and NOT of such.
class SampledTruth {
 public:
  // The operator outlives it.
  explicit SampledTruth(const LogicalOperator& op) : op_(op) {}

  // One a sampled row; nullopt: the sample can't tell, or there is none, or it is of another table than before.
  std::optional<std::vector<Truth>> of(const Expression& condition);
  // The table that all conditions told so far were about; null: there was none.
  const LogicalOperator* scan() const { return scan_; }

 private:
  const SampledColumn* column(const Expression& e);
  std::optional<std::vector<Truth>> of_column(const Expression& condition);
  std::optional<std::vector<Truth>> comparison(const Expression& condition);
  std::optional<std::vector<Truth>> membership(const Expression& condition);
  std::optional<std::vector<Truth>> matching(const Expression& condition);
  std::optional<std::vector<Truth>> null_test(const Expression& condition);
  std::optional<std::vector<Truth>> negation(const Expression& condition);
  std::optional<std::vector<Truth>> combination(const Expression& condition);

  const LogicalOperator& op_;
  const LogicalOperator* scan_ = nullptr;
};

// A constant as a sample has the values of a column; nullopt: it is NULL, or of another type than the column.
std::optional<SampledValue> sampled_value(const Value& constant, const Type& column);

}  // namespace diptych
