// The engine that can run every section and every operation, on rows in host memory, as the walk sees it. One of a run;
// it keeps what sections have filled until an operation asks for it.
#pragma once

#include <memory>
#include <vector>

#include "engine/rows/host_row_set.h"
#include "engine/run/built_keys.h"
#include "engine/run/section_task.h"

namespace diptych {

// Its part in a section whose tablets a device takes, too; see shared_section.h.
class HostPart : public SectionPartner {
 public:
  // Once both are through: adds its totals to those of the device, and what is told of the run.
  virtual void merge_into(SectionResult& result) = 0;
  // Adds the rows that it has written of tablets before this one, and not added yet, to the result.
  virtual void add_rows_before(size_t tablet, HostRowSet& result) = 0;
};

class HostEngine {
 public:
  virtual ~HostEngine() = default;
  // The section behind the Parallel at `address` over these rows. What it writes goes to `result`, at least the first
  // `wanted` rows of it (-1: all); groups and what it appends to row sets stay here. Errors: those of the rows, 53200,
  // 57014.
  virtual SectionProfile run_section(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                     int64_t wanted, HostRowSet& result, PartClock* clock) = 0;
  // A part of it. All arguments outlive that.
  virtual std::unique_ptr<HostPart> part_of(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                            PartClock* clock) = 0;
  // Whether a section has filled the hash table here.
  virtual bool has_groups(int32_t hash_table) const = 0;
  // The groups of the hash table, which is then no longer here. Errors: 22003, 53200, 57014.
  virtual MadeRows take_groups(int32_t hash_table, std::vector<ColumnDefinition> columns) = 0;
  // Lets go of what sections have filled of the hash table.
  virtual void forget_groups(int32_t hash_table) = 0;
  // What sections have appended to the row set, in its order, which is then no longer here. Errors: 53200, 57014.
  virtual MadeRows take_rows(int32_t row_set, std::vector<ColumnDefinition> columns) = 0;
  // Builds the index over the rows of its row set, which are on the host. Errors: 53200, 54000, 57014.
  virtual FormProfile build_index(int32_t index, std::shared_ptr<const TabletSource> rows) = 0;
  // Of the index; null: it is not here, or not all of it at once.
  virtual const BuiltKeys* built_keys(int32_t index) const = 0;
  // Lets go of the index.
  virtual void forget_index(int32_t index) = 0;
};

}  // namespace diptych
