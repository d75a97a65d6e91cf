// Where an operator's column comes from.
#pragma once

#include "bind/logical_operator.h"

namespace diptych {

// Column `number` of a scan's source; scan == nullptr: it is computed, or counted.
struct ScanColumn {
  const LogicalOperator* scan = nullptr;
  size_t number = 0;
};

// What is known of the values of a scan's source; null: nothing. Rows are sampled for it only where joins are put in
// order by them.
const SourceStatistics* statistics_of(const LogicalOperator& scan);

// The column of a table whose values an operator passes on as they are, some of its rows perhaps left out or repeated.
ScanColumn scan_column(const LogicalOperator& op, ColumnId column);

// The input of a join that has the column. The one with fewer columns is looked through.
const LogicalOperator& side_of(const LogicalOperator& join, ColumnId column);

}  // namespace diptych
