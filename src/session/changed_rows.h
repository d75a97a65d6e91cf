// The rows that the query of INSERT, UPDATE or DELETE gives: what is stored, and what is handed out.
//
//   UPDATE t SET b = b + 1 ... RETURNING a, b   position | a  b | a  b
//                                               erased     appended
//                                                                handed out
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/memory_budget.h"
#include "engine/run/context.h"
#include "storage/store.h"
#include "tablet/tablet_source.h"

namespace diptych {

// Appends `count` columns of the rows, from the first on, to a table that has as many. Errors: 57014, those of
// WriteTransaction::append().
void append_rows(WriteTransaction& transaction, const std::string& table, const TabletSource& rows, size_t first_column,
                 size_t count, const ExecutionContext& context);

// The first column, bigint and never NULL, in ascending order; each once, though rows may repeat it. Errors: 53200,
// 57014.
std::vector<int64_t> positions_of(const TabletSource& rows, MemoryReservation& reservation,
                                  const ExecutionContext& context);

// Of rows with the same position the first one; last: no position is greater. Errors: 53200, 57014.
std::shared_ptr<const TabletSource> first_of_each(const TabletSource& rows, int64_t last,
                                                  const ExecutionContext& context);

// The columns from `first` on.
std::shared_ptr<const TabletSource> columns_from(std::shared_ptr<const TabletSource> rows, size_t first);

}  // namespace diptych
