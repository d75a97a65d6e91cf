// One column of a tablet being built: takes rows in register form, gives the encoded column.
#pragma once

#include <cstdint>
#include <memory>

#include "tablet/encoded_tablet.h"
#include "tablet/row_batch.h"
#include "tablet/validity_bits.h"

namespace diptych {

// A string is shorter than this: offsets of 32 bits reach the end of one more, whatever stands before it.
inline constexpr size_t most_string_bytes = size_t{1} << 30;

class Dictionary;

class StagedColumn {
 public:
  virtual ~StagedColumn() = default;
  // How many of the rows [first, first + count) this column has room for.
  virtual int64_t rows_that_fit(const BatchColumn& column, int64_t first, int64_t count) const;
  virtual void append(const BatchColumn& column, int64_t first, int64_t count) = 0;
  // As append(), of all rows of a tablet, whose memory stays until finish().
  virtual void view(const BatchColumn& column, int64_t first, int64_t count) { append(column, first, count); }
  // The encoded rows; the column is empty afterwards.
  virtual EncodedColumn finish(UsualForm form) = 0;
  virtual int64_t bytes() const = 0;

 protected:
  GrowingValidity validity_;
};

// dictionary: for Text only, and nullptr for strings that go to the heap. heap_bytes: as TabletBuilder has it.
std::unique_ptr<StagedColumn> make_staged_column(PhysicalType physical, int64_t capacity, Dictionary* dictionary,
                                                 int64_t heap_bytes);

}  // namespace diptych
