// The clauses of a SELECT, each bound by itself, and the operators that they become together. GROUP BY makes this two
// steps: which aggregates and groups there are is known when the last clause is bound.
//
//   SELECT a, sum(b) FROM t WHERE c GROUP BY a HAVING sum(b) > 1 ORDER BY a + 1 LIMIT 5
//
//   Limit 5
//   └ Project a, sum            the visible outputs
//     └ Sort (a + 1)
//       └ Project a, sum, a + 1   all outputs
//         └ Filter sum > 1        having
//           └ Aggregate by [a]: sum(b)
//             └ Filter c          where
//               └ Scan t          source
#pragma once

#include <string>
#include <vector>

#include "bind/logical_operator.h"

namespace diptych {

// When `grouped`, having and outputs see the groups and aggregates; else the source's columns. where, groups, aggregate
// arguments and filters always see the source's columns.
struct SelectClauses {
  struct Output {
    std::string name;  // empty: hidden
    ExpressionPtr expression;
    ColumnId id = no_column;  // of its value
  };
  struct Group {
    ExpressionPtr expression;
    ColumnId id = no_column;  // of its value in the groups' rows
  };
  struct OrderKey {
    size_t output = 0;  // position in outputs
    bool descending = false;
    bool nulls_first = false;
  };

  LogicalOperatorPtr source;  // null: no FROM, which is one row without columns
  ExpressionPtr where;        // null: all rows
  bool grouped = false;
  std::vector<Group> groups;
  std::vector<BoundAggregate> aggregates;
  ExpressionPtr having;
  std::vector<Output> outputs;  // the visible ones first, then those only ORDER BY needs
  size_t visible_outputs = 0;
  bool distinct = false;  // then there are no hidden outputs
  std::vector<OrderKey> order;
  ExpressionPtr limit, offset;  // bigint over no input; null: none
};

// The operators in the order that SQL's semantics give. Groups and hidden outputs stay without a name. depth: as
// LogicalOperator's.
LogicalOperatorPtr make_operators(SelectClauses clauses, int depth);

}  // namespace diptych
