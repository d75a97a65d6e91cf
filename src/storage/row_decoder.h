// Columns of a tablet back in register form, as a batch that a TabletBuilder takes: for rewriting fragments.
//
//   views  base 100, codes 16 35 7   -->   batch  1700 3600 800
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tablet/cells.h"
#include "tablet/row_batch.h"

namespace diptych {

// Owns the decoded values; what needs no decoding is viewed, so the views must stay valid.
class DecodedRows {
 public:
  DecodedRows(std::span<const ColumnView> views, int64_t rows);
  RowBatch batch() const { return {rows_, columns_}; }

 private:
  BatchColumn decode(const ColumnView& view);
  BatchColumn decode_dictionary(const ColumnView& view);
  template <typename T>
  const void* decode_integers(const ColumnView& view);
  void* memory(size_t bytes);

  int64_t rows_;
  std::vector<BatchColumn> columns_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace diptych
