// Which rows of a tablet are there. A tablet never changes: who deletes some of its rows gives it another mask, and
// snapshots from before keep the one that they have.
//
//   tablet 7    row   0 1 2 3 4 5 6 7 8 9
//   mask 12           1 1 0 1 1 1 1 1 1 1     row 2 was deleted
//   mask 15           1 1 0 1 1 0 0 1 1 1     then rows 5 and 6
//
// Engines see the bits as those of a column of the table that is NULL in rows that are not there (table_view.h).
// Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/memory_budget.h"
#include "tablet/aligned_buffer.h"
#include "tablet/validity_bits.h"

namespace diptych {

class VisibilityMask {
 public:
  // id: of the database's TabletIds, which tablets and masks share. Of a tablet's rows those are there that `before`
  // has (null: all), but not those at the positions, of which `first` is that of the tablet's first row. Errors: 53200.
  VisibilityMask(uint64_t id, int64_t rows, const VisibilityMask* before, std::span<const int64_t> positions,
                 int64_t first, MemoryBudget& budget);
  // Its bits as the file has them, validity_bytes(rows) of them. Errors: 53200.
  VisibilityMask(uint64_t id, int64_t rows, std::span<const std::byte> bits, MemoryBudget& budget);

  uint64_t id() const { return id_; }
  int64_t rows() const { return rows_; }
  // Of the rows those that are there.
  int64_t live_rows() const { return live_rows_; }
  bool is_live(int64_t slot) const { return is_valid(bits(), slot); }
  // Bit i of byte i / 8 is 1 where row i is there; those behind the last row are 0.
  const uint8_t* bits() const { return bits_.as<uint8_t>(); }
  int64_t bytes() const { return validity_bytes(rows_); }

  // Rows before the slot that are there; and the slot before which there are so many.
  int64_t live_before(int64_t slot) const { return count_ones(bits(), 0, slot); }
  int64_t slot_of(int64_t live_row) const;

 private:
  VisibilityMask(uint64_t id, int64_t rows, MemoryBudget& budget);

  const uint64_t id_;
  const int64_t rows_;
  MemoryReservation memory_;
  AlignedBuffer bits_;
  int64_t live_rows_ = 0;
};

using MaskHandle = std::shared_ptr<const VisibilityMask>;

}  // namespace diptych
