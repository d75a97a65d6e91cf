// The rows of generate_series(start, stop, step): tablets whose codes are one shared count 0, 1, 2, ..., so that a
// series of any length takes no memory.
//
//   generate_series(10, 200000, 5):  [base 10, factor 5, codes 0..65535 -> 10, 15, ...]  [base 327690, ...] ...
#pragma once

#include <cstdint>
#include <vector>

#include "tablet/tablet_source.h"

namespace diptych {

class SeriesSource : public TabletSource {
 public:
  static constexpr int64_t tablet_rows = 65536;

  // type: integer or bigint. Errors: 22023 when step is 0.
  SeriesSource(ColumnDefinition column, int64_t start, int64_t stop, int64_t step);

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return (rows_ + tablet_rows - 1) / tablet_rows; }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override;
  ZoneMap zone_map(size_t tablet, size_t column) const override;
  const char* read_by_cpu() const override { return "a series"; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t, size_t) const override { return 0; }

 private:
  // The value of row `row` of the whole series.
  int64_t at(int64_t row) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start_) +
                                static_cast<uint64_t>(row) * static_cast<uint64_t>(step_));
  }

  std::vector<ColumnDefinition> columns_;
  int64_t start_;
  int64_t step_;
  int64_t rows_;
};

}  // namespace diptych
