// Groups in a device's memory, as the Groups cursor shows them: kernels of the same device read them where they are;
// for whoever else pins them they are copied to host memory, once.
//
// Thread safety: as every TabletSource.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/group_columns.h"
#include "engine/gpu/input/column_segment.h"
#include "engine/gpu/output/host_memory.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

class GroupSource final : public TabletSource {
 public:
  // dictionaries: by column of the section, of strings that are codes. budget: of copies in host memory; null: none.
  // The engine and the budget outlive it.
  GroupSource(GpuEngine& engine, const GroupPlan& plan, const HashTableInfo& table,
              const std::vector<const Dictionary*>& dictionaries, MemoryBudget* budget);

  // While nobody else has it yet.
  void add(GroupColumns piece);
  // Leaves the device: all is in host memory then. While nobody else reads it. Errors: 53200, 58000.
  void move_to_host() const;
  bool is_on_device() const { return is_on_device_; }

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return pieces_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return pieces_[tablet].rows; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t column) const override { return forms_[column].dictionary; }
  // Has these columns of all rows in host memory, where pin() finds them. Errors: 53200, 58000.
  void bring(std::span<const size_t> wanted) const;
  // Errors: as bring().
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

  Device& device() const { return engine_.device(); }
  // What copying them to the host has taken so far.
  QueueWork work() const {
    std::lock_guard guard(mutex_);
    return report_.work;
  }
  // The column of a piece where it is, which it keeps there.
  std::shared_ptr<const ColumnSegment> segment(size_t piece, size_t column) const;
  // How it is stored.
  SegmentTablet form(size_t piece, size_t column) const;

 private:
  struct HostColumn {
    PinnedBuffer values, validity;  // values: of strings, their offsets and bytes
    int64_t bytes = 0;              // of values
  };
  void fetch(size_t first, size_t end, std::span<const size_t> wanted) const;

  GpuEngine& engine_;
  std::vector<ColumnDefinition> columns_;
  std::vector<ColumnView> forms_;             // of the columns, without addresses
  mutable std::vector<GroupColumns> pieces_;  // without memory, where they have left the device
  int64_t rows_ = 0;
  mutable std::atomic<bool> is_on_device_ = true;
  mutable std::mutex mutex_;  // guards what follows
  mutable MemoryReservation host_bytes_;
  mutable WorkReport report_;
  mutable std::map<std::pair<size_t, size_t>, HostColumn> copies_;
};

// How column `i` of groups is stored (but for the dictionary): keys come first, then aggregates.
ColumnView group_form(const GroupPlan& plan, const HashTableInfo& table, size_t i);

// The source, if it is of groups in the memory of that device; else null.
inline const GroupSource* groups_on(const Device& device, const TabletSource& source) {
  const auto* groups = dynamic_cast<const GroupSource*>(&source);
  return groups != nullptr && groups->is_on_device() && &groups->device() == &device ? groups : nullptr;
}

}  // namespace diptych::gpu
