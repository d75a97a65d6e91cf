// The engine that can run every section and every operation, on rows in host memory, as the walk sees it. One of a run;
// it keeps what sections have filled until an operation asks for it.
#pragma once

#include <memory>
#include <vector>

#include "engine/rows/block_source.h"
#include "engine/run/section_task.h"

namespace diptych {

// Its part in a section whose tablets a device takes, too; see shared_section.h.
class HostPart : public SectionPartner {
 public:
  // Once both are through: adds its totals to those of the device, and what is told of the run.
  virtual void merge_into(SectionResult& result) = 0;
  // Adds the rows that it has written of tablets before this one, and not added yet, to the result.
  virtual void add_rows_before(size_t tablet, BlockSource& result) = 0;
};

class HostEngine {
 public:
  virtual ~HostEngine() = default;
  // The section behind the Parallel at `address` over these rows. What it writes goes to `result`, at least the first
  // `wanted` rows of it (-1: all); groups and rows to be sorted stay here. Errors: those of the rows, 53200, 57014.
  virtual SectionProfile run_section(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                     int64_t wanted, BlockSource& result, PartClock* clock) = 0;
  // A part of it. All arguments outlive that.
  virtual std::unique_ptr<HostPart> part_of(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                            PartClock* clock) = 0;
  // Whether a section has filled the hash table here.
  virtual bool has_groups(int32_t hash_table) const = 0;
  // What Groups shows of the hash table, which is then no longer here. Errors: 22003, 53200, 57014.
  virtual MadeRows take_groups(int32_t hash_table, std::vector<ColumnDefinition> columns) = 0;
  // What Sort shows of the sorter, which is then no longer here. Errors: 53200, 57014.
  virtual MadeRows take_sorted(int32_t sorter, std::vector<ColumnDefinition> columns) = 0;
};

}  // namespace diptych
