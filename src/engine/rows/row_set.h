// The rows that sections hand to each other: columns of rows in pieces, which readers see as tablets. A row set is in
// one place; a reader elsewhere asks for the columns that it needs.
//
//   host_row_set.h         in host memory, or moved from there to a temporary file
//   gpu/rows/              in the memory of a device, whose kernels read them there
#pragma once

#include <span>

#include "tablet/tablet_source.h"

namespace diptych {

class Device;
struct WorkReport;

class RowSet : public TabletSource {
 public:
  // The device in whose memory the rows are; null: they are on the host.
  virtual Device* device() const { return nullptr; }
  // Has these columns of all rows in host memory, where pin() finds them. report: of what the device's queue does for
  // that; null: not wanted. Errors: 53200, 58000.
  virtual void bring(std::span<const size_t> /*columns*/, WorkReport* /*report*/) const {}

  // Nothing is known of the values of rows that a statement has just made.
  ZoneMap zone_map(size_t /*tablet*/, size_t /*column*/) const override { return {}; }
};

// The source as a row set; null: it is a table, a file or VALUES.
inline const RowSet* row_set_of(const TabletSource& source) { return dynamic_cast<const RowSet*>(&source); }

}  // namespace diptych
