// The rows that the query of INSERT, UPDATE or DELETE gives: what is stored, and what is handed out.
//
//   UPDATE t SET b = b + 1 ... RETURNING a, b   position | a  b | a  b
//                                               erased     appended
//                                                                handed out
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bind/bound_statement.h"
#include "engine/rows/memory.h"
#include "engine/run/context.h"
#include "storage/store.h"
#include "tablet/tablet_source.h"

namespace diptych {

// What a statement does with the rows of its query.
struct RowChange {
  TableAddress table;
  bool erases = false;             // the rows at the positions, which are the first column
  bool stores = false;             // the columns behind the positions, up to those of RETURNING
  std::vector<bool> unchanged;     // of these, those that are as the erased rows have them; none: it is not known
  std::optional<size_t> returned;  // the first column of RETURNING; nothing: there is none
};

// Of INSERT, UPDATE, and DELETE; nothing: it is another statement, or has no query, as TRUNCATE.
std::optional<RowChange> row_change_of(const BoundStatement& statement);

// What a change took.
struct ChangeTimes {
  int64_t erase_nanoseconds = 0, store_nanoseconds = 0;
};

// Makes the change, says how many rows of the table are new or gone, and leaves the rows that are handed out; null:
// none. Errors: 53200, 57014, those of WriteTransaction::append() and erase().
int64_t change_rows(WriteTransaction& transaction, const RowChange& change, std::shared_ptr<const TabletSource>& rows,
                    const ExecutionContext& context, ChangeTimes& times);

// Appends `count` columns of the rows, from the first on, to a table that has as many. unchanged: as above. Errors:
// 57014, those of WriteTransaction::append().
void append_rows(WriteTransaction& transaction, const std::string& table,
                 const std::shared_ptr<const TabletSource>& rows, size_t first_column, size_t count,
                 const ExecutionContext& context, const std::vector<bool>& unchanged = {});

// Of rows of a table.
struct Positions {
  Chunk memory;
  std::span<int64_t> values;
};

// The first column, bigint and never NULL, in ascending order; each once, though rows may repeat it. Errors: 53200,
// 57014.
Positions positions_of(const TabletSource& rows, const ExecutionContext& context);

// Of rows with the same position the first one; last: no position is greater. Errors: 53200, 57014.
std::shared_ptr<const TabletSource> first_of_each(const TabletSource& rows, int64_t last,
                                                  const ExecutionContext& context);

// The columns of these numbers.
std::shared_ptr<const TabletSource> pick_columns(std::shared_ptr<const TabletSource> rows, std::vector<size_t> picked);

}  // namespace diptych
