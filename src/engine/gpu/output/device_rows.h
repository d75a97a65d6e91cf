// Rows that a device has made between two sections, in host memory: groups, or sorted rows.
#pragma once

#include <memory>
#include <vector>

#include "engine/section_engine.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

class DeviceRows final : public TabletSource {
 public:
  explicit DeviceRows(std::vector<ColumnDefinition> columns) : columns_(std::move(columns)) {}
  void add(SectionRows rows);

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return tablets_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return tablets_[tablet].rows; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

 private:
  std::vector<ColumnDefinition> columns_;
  std::vector<SectionRows> tablets_;
  std::vector<int64_t> first_rows_;
  int64_t rows_ = 0;
};

}  // namespace diptych::gpu
