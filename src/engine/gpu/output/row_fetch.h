// Brings rows that a kernel has written to host memory.
//
//   device         values 0 | NULL bytes 0 | values 1 | ...        strings: where each is (text_fetch.h)
//                  what a kernel has written to pinned memory stays there instead
//   pinned memory  values 0 | NULL bytes 0, then bits | values 1 | ...     in parts of at most 128 MB, so that what one
//                  result leaves another can use; columns that are alike are one part and one copy if that is enough
//   pieces         views of 65536 rows each into that memory, which they keep
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/section_kernel.h"
#include "engine/gpu/sort/sort_sink.h"
#include "engine/run/section_task.h"

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
  // rows: one or more. sort: not null where they come in its order. budget: where the rows are reserved until nobody
  // has them any more; null: nowhere.
  RowFetch(Device& device, Queue& queue, int64_t rows, BatchSort* sort, MemoryBudget* budget)
      : device_(device),
        queue_(queue),
        rows_(rows),
        sort_(sort),
        reserved_(std::make_shared<MemoryReservation>(budget, "rows of a result")) {}

  void add(const FetchedColumn& column);
  // A column that the kernel has written to pinned memory: it stays there, and what is more than the rows is freed.
  // Errors: 53200 of memory_limit.
  void keep(const FetchedColumn& column, PinnedBuffer values, PinnedBuffer nulls);
  // Queues the copies. Errors: 53200, of memory_limit, too; 58000.
  void start();
  // Afterwards, where it was not known before: there are no more rows than these. Not of strings.
  void cut(int64_t rows) { rows_ = std::min(rows, rows_); }
  // Once the queue is through: the rows of all columns in pieces.
  std::vector<HostPiece> finish();

 private:
  // Elements of all rows on the host. Parts have so many rows, and the last one the rest.
  struct Parts {
    int width = 0;
    int64_t part_rows = 0;
    std::vector<std::byte*> parts;
    std::byte* at(int64_t row) const { return parts[static_cast<size_t>(row / part_rows)] + row % part_rows * width; }
  };
  struct Column {
    FetchedColumn from;
    Parts values, nulls;     // nulls: of nullable columns
    bool has_nulls = false;  // some row is NULL
    std::optional<TextFetch> texts;
  };

  // How many columns from this one on are alike: as wide, and each as far behind the one before.
  size_t count_alike(size_t first) const;
  bool is_alike(const Column& column) const;
  void copy_alike(std::span<Column> columns);
  std::byte* copy_lines(size_t count, int width, DeviceAddress from, int64_t distance);
  void copy(Column& column);
  Parts copy_elements(int width, DeviceAddress from);
  // All rows in one part.
  Parts own_all(int width, PinnedBuffer buffer);
  std::byte* own(PinnedBuffer buffer);
  DeviceAddress in_order(int width, DeviceAddress from);
  void pack_nulls(Column& column);
  ColumnView view(const Column& column, int64_t first) const;

  Device& device_;
  Queue& queue_;
  int64_t rows_;
  BatchSort* const sort_;
  std::vector<Column> columns_;
  std::vector<std::shared_ptr<const void>> owners_;    // of what is on the host
  const std::shared_ptr<MemoryReservation> reserved_;  // for it
};

}  // namespace diptych::gpu
