// All tablets of a source of plain columns and strings as one, in host memory: what goes to a device as one stretch of
// values a column. Strings become offsets and bytes.
//
//   |a0 a1|a2|a3 a4 a5|   ->   |a0 a1 a2 a3 a4 a5|
//
// Thread safety: as every TabletSource.
#pragma once

#include "base/memory_budget.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

class JoinedTablets final : public TabletSource {
 public:
  // budget: of the copies that pin() makes; null: none. Both outlive it.
  JoinedTablets(const TabletSource& source, MemoryBudget* budget) : source_(source), budget_(budget) {}

  const std::vector<ColumnDefinition>& columns() const override { return source_.columns(); }
  size_t tablet_count() const override { return 1; }
  int64_t row_count() const override { return source_.row_count(); }
  int64_t rows_in(size_t) const override { return row_count(); }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  // Errors: those of the source, 53200.
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

 private:
  const TabletSource& source_;
  MemoryBudget* budget_;
};

}  // namespace diptych::gpu
