// Columns in register form together with the memory they are in: what a reader makes of a stretch of a file before it
// passes it on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tablet/aligned_buffer.h"
#include "tablet/row_batch.h"

namespace diptych {

struct OwnedColumn {
  BatchColumn view;
  AlignedBuffer values, validity, offsets, bytes;  // those that `view` points into and that were made here
  std::vector<std::shared_ptr<const void>> kept;   // owners of memory that `view` points into besides

  // Makes room for values of the type and points the view there.
  template <typename T>
  T* make_values(int64_t rows) {
    values.resize(static_cast<size_t>(rows) * sizeof(T));
    view.values = values.data();
    return values.as<T>();
  }
};

struct OwnedBatch {
  int64_t rows = 0;
  std::vector<OwnedColumn> columns;

  std::vector<BatchColumn> views() const {
    std::vector<BatchColumn> views;
    for (const OwnedColumn& column : columns) views.push_back(column.view);
    return views;
  }
};

}  // namespace diptych
