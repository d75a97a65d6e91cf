// Walks the rows of a result for the C API: row by row, or tablet by tablet in plain form.
#pragma once

#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "diptych/diptych.h"
#include "storage/row_decoder.h"
#include "tablet/tablet_source.h"

namespace diptych {

// Thread safety: one thread at a time.
class ResultReader {
 public:
  explicit ResultReader(std::shared_ptr<const TabletSource> result);

  size_t column_count() const { return all_columns_.size(); }
  // The two ways to read share the place in the result, so changing over would lose rows or give them twice.
  enum class Way : uint8_t { Any, Rows, Chunks };
  // Errors: 25000 rows were read in the other way.
  void check_way(Way way) const;
  // Makes the next row current; false at the end.
  bool next_row();
  // Fills the next rows in bulk and says how many; 0 at the end. Valid until the next call.
  int64_t next_chunk(diptych_chunk_column* columns);

  // Whether there is a current row.
  bool has_row() const { return row_ >= 0; }
  // Of the current row, which must be there. Text stays until the next row.
  bool is_null(size_t column) const;
  int64_t int64_at(size_t column) const;
  double double_at(size_t column) const;
  const std::string& text_at(size_t column);

 private:
  bool pin_next_tablet();
  diptych_chunk_column chunk_column(size_t column, const BatchColumn& batch);

  std::shared_ptr<const TabletSource> result_;
  std::vector<size_t> all_columns_;
  Way way_ = Way::Any;  // how the rows are read
  size_t next_tablet_ = 0;
  std::unique_ptr<PinnedTablet> pinned_;
  int64_t row_ = -1;
  std::vector<std::optional<std::string>> texts_;
  std::unique_ptr<DecodedRows> decoded_;  // the current chunk
};

// The API's name of a type.
diptych_type api_type(const Type& type);

}  // namespace diptych
