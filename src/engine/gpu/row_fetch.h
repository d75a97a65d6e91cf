// Brings rows that a kernel has written to host memory.
//
//   device         values 0 | NULL bytes 0 | values 1 | ...        strings: where each is (text_rows.h)
//                  what a kernel has written to pinned memory stays there instead
//   pinned memory  values 0 | NULL bytes 0, then bits | values 1 | ...     each a buffer of its own
//   pieces         views of 65536 rows each into that memory, which they keep
#pragma once

#include <optional>
#include <vector>

#include "engine/gpu/section_kernel.h"
#include "engine/gpu/sort_sink.h"
#include "engine/gpu/text_rows.h"
#include "engine/section_engine.h"

namespace diptych::gpu {

// Where a column's rows are on the device.
struct FetchedColumn {
  OutputColumn column;
  DeviceAddress values;
  DeviceAddress nulls;                     // a byte of each row, 1: not NULL; of nullable columns
  const Dictionary* dictionary = nullptr;  // of strings that are codes
};

class RowFetch {
 public:
  // rows: how many to copy, one or more; there may turn out to be fewer. sort: not null where they come in its order.
  RowFetch(Device& device, Queue& queue, int64_t rows, BatchSort* sort)
      : device_(device), queue_(queue), rows_(rows), sort_(sort) {}

  void add(const FetchedColumn& column);
  // A column that the kernel has written to pinned memory: it stays there.
  void keep(const FetchedColumn& column, PinnedBuffer values, PinnedBuffer nulls);
  // Queues the copies. Errors: 53200, 58000.
  void start();
  int64_t rows() const { return rows_; }
  // Afterwards, once the queue is through: the rows of all columns in pieces, so many of them. Memory for more is
  // freed.
  std::vector<SectionRows> finish(int64_t rows);
  // Kernels that it took.
  int launches() const { return launches_; }

 private:
  struct Column {
    FetchedColumn from;
    std::shared_ptr<PinnedBuffer> values, nulls;  // nulls: of nullable columns
    const uint8_t* bits = nullptr;                // not null: some row is NULL
    std::optional<TextRows> texts;
  };

  void copy(Column& column);
  std::shared_ptr<PinnedBuffer> pinned(int64_t bytes);
  DeviceAddress in_order(int width, DeviceAddress from);
  void pack_nulls(Column& column);
  ColumnView view(const Column& column, int64_t first) const;

  Device& device_;
  Queue& queue_;
  int64_t rows_;
  BatchSort* const sort_;
  std::vector<Column> columns_;
  int launches_ = 0;
};

}  // namespace diptych::gpu
