#include "bind/logical_operator.h"

namespace diptych {

std::vector<std::string> LogicalOperator::names() const {
  std::vector<std::string> result;
  for (const BoundColumn& column : columns) result.push_back(column.name);
  return result;
}

}  // namespace diptych
