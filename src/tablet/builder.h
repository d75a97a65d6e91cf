// Collects rows in register form, column by column, and encodes them as one tablet.
//
//   batches  [rows 0..999] [1000..1999] ...            append()  copies into the staging columns, unless a batch that
//                                                                stays has all rows of the tablet
//   staging  quantity: 1700 3600 800 ...               finish()  chooses an encoding per column
//   tablet   quantity: base 100, factor 100, codes (1 byte) 16 35 7 ...
//
// The encoding of a column: integers (boolean to numeric) FrameOfReference with the fewest whole bytes, or as many as
// are asked for; numerics beyond 64 bits, floats and intervals Plain; strings codes of the table's dictionary while
// they repeat, otherwise Heap.
//
// Thread safety: a builder belongs to one thread at a time; builders of one table may run at once and share its
// dictionaries.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tablet/encoded_tablet.h"
#include "tablet/row_batch.h"
#include "tablet/tablet_source.h"

namespace diptych {

class StagedColumn;

class TabletBuilder {
 public:
  // A tablet takes no more rows once a column's strings would pass the limit; a single longer string gets a tablet of
  // its own.
  static constexpr int64_t default_heap_bytes = int64_t{256} << 20;
  static constexpr int64_t most_heap_bytes = int64_t{3} << 30;  // 32-bit offsets still reach the end of one string more

  // capacity: row slots of the tablet. dictionaries: one per column, nullptr for columns that are not strings and for
  // strings that are to go to the heap; they outlive the builder and its tablets.
  TabletBuilder(std::span<const ColumnDefinition> columns, int64_t capacity, std::vector<Dictionary*> dictionaries,
                int64_t heap_bytes = default_heap_bytes);
  ~TabletBuilder();
  TabletBuilder(TabletBuilder&&) noexcept;
  TabletBuilder& operator=(TabletBuilder&&) noexcept;

  // Takes rows [first_row, first_row + count) of the batch, or fewer when the tablet is full, and says how many. The
  // batch has the builder's columns in order and of their physical types. Errors: 54000 a string of 1 GiB or more.
  int64_t append(const RowBatch& batch, int64_t first_row, int64_t count);

  int64_t rows() const { return rows_; }
  // True when append() would take no more rows: all slots are taken, or a column's strings fill the heap.
  bool full() const { return heap_full_ || rows_ == capacity_; }
  // Memory held for the rows so far, about.
  int64_t staged_bytes() const;

  // Encodes the rows and leaves the builder empty, ready for the next tablet; what it has learnt of the strings stays.
  // forms: by column; none: each in the fewest bytes. Floats, intervals and strings that do not repeat have no choice.
  EncodedTablet finish(std::span<const UsualForm> forms = {});

 private:
  int64_t capacity_;
  int64_t rows_ = 0;
  bool heap_full_ = false;
  std::shared_ptr<const void> viewed_;  // of the batch that all rows are of, which are not copied; null: they are
  std::vector<std::unique_ptr<StagedColumn>> columns_;
};

}  // namespace diptych
