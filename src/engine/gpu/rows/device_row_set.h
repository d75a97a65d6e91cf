// A row set in a device's memory: kernels of the same device read its rows where they are; for whoever else pins them
// they are copied to host memory, once.
//
// Thread safety: as every TabletSource.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/input/column_segment.h"
#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/rows/device_piece.h"
#include "engine/rows/row_set.h"

namespace diptych::gpu {

class DeviceRowSet final : public RowSet {
 public:
  // forms: how the columns are stored, without addresses. budget: of copies in host memory; null: none. The engine and
  // the budget outlive it.
  DeviceRowSet(GpuEngine& engine, std::vector<ColumnDefinition> columns, std::vector<ColumnView> forms,
               MemoryBudget* budget);

  // While nobody else has it yet.
  void add(DevicePiece piece);
  // Leaves the device: all is in host memory then. While nobody else reads it. Errors: 53200, 58000.
  void move_to_host() const;

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return pieces_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return pieces_[tablet].rows; }
  const Dictionary* common_dictionary(size_t column) const override { return forms_[column].dictionary; }
  Device* device() const override { return is_on_device_ ? &engine_.device() : nullptr; }
  void bring(std::span<const size_t> wanted, WorkReport* report) const override;
  // Errors: as bring().
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

  // The column of a piece where it is, which it keeps there.
  std::shared_ptr<const ColumnSegment> segment(size_t piece, size_t column) const;
  // How it is stored.
  SegmentTablet form(size_t piece, size_t column) const;

 private:
  struct HostColumn {
    PinnedBuffer values, validity;  // values: of strings, their offsets and bytes
    int64_t bytes = 0;              // of values
  };
  void fetch(size_t first, size_t end, std::span<const size_t> wanted, WorkReport* report) const;

  GpuEngine& engine_;
  std::vector<ColumnDefinition> columns_;
  std::vector<ColumnView> forms_;            // of the columns, without addresses
  mutable std::vector<DevicePiece> pieces_;  // without memory, where they have left the device
  int64_t rows_ = 0;
  mutable std::atomic<bool> is_on_device_ = true;
  mutable std::mutex mutex_;  // guards what follows
  mutable MemoryReservation host_bytes_;
  mutable std::map<std::pair<size_t, size_t>, HostColumn> copies_;
};

// The source, if it is a row set in the memory of that device; else null.
inline const DeviceRowSet* rows_on(const Device& device, const TabletSource& source) {
  const auto* rows = dynamic_cast<const DeviceRowSet*>(&source);
  return rows != nullptr && rows->device() == &device ? rows : nullptr;
}

}  // namespace diptych::gpu
