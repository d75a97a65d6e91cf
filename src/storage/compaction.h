// Writes tablets anew without the rows that were deleted from them, so that scans do not meet them and their space is
// used again.
//
//   before   [full, 60 left] [full, 50 left] [full, 10 left] [full] ...      of 100 slots each
//   after    [100] [20] [full] ...
//
// Neighbours are written together, a run of them at a time, in two steps: their rows into new tablets, beside writers
// and readers of the table; then, as the one writer, the new tablets into the newest version of the table, with masks
// for the rows that were deleted meanwhile. No row changes its order, and snapshots keep the tablets that they have.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "storage/table_view.h"
#include "storage/tablet_storage.h"

namespace diptych {

// Tablets [first, first + count) of a version of a table, and what they become.
struct CompactedRun {
  std::shared_ptr<const TableView> table;
  size_t first = 0, count = 0;
  std::vector<TabletHandle> tablets;  // with the rows that were there in that version, in order
};

// Which tablets may be written anew: those at the end that are not full change with every row that is added.
enum class CompactedPart : uint8_t { BeforeFragmentsAtEnd, All };

// The run of tablets that is most worth it: the largest part of their rows is gone. None: no tablet has lost as many as
// are worth it.
std::optional<CompactedRun> run_to_compact(std::shared_ptr<const TableView> table, CompactedPart part);

// Writes the tablets of a run. False: the file's headers are to be settled first. Errors: 53100, 53200, 58030, XX001,
// 57014 once *cancelled, which may be null, is true.
bool write_run(const TabletStorage& storage, CompactedRun& run, const std::atomic<bool>* cancelled);

// Puts what was written into a later version of the table, by the writer. False, and nothing is changed, where the
// tablets of the run are not there any more, or others between them. Errors: 53200.
bool put_run(const TabletStorage& storage, const CompactedRun& run, TableState& later);

}  // namespace diptych
