// One column of a run of tablets, in device memory or in pinned host memory.
//
//   segment   |tablet 0: data, validity|tablet 1: data|tablet 2: data, offsets, heap| ...
//
// What a kernel reads is encoded as it is in the tablet; only the places differ. Pieces of some megabytes are what a
// bus moves at full speed. On a device, the parts of tablets that another segment has already are shared with it:
//
//   memory of an older segment    | 0 | 1 | 2 | 3 |
//   memory of its own             | 4 |                  the segment has 0, 1, 4 and 3
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/input/arrival.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

// Of each tablet: how it is stored, and where in its part of the segment.
struct SegmentTablet {
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  int width = 0;
  int64_t base = 0, factor = 1;
  const Dictionary* dictionary = nullptr;
  int64_t rows = 0;
  bool has_nulls = false;
  // Offsets in bytes; -1: not there. data: codes, plain values or string offsets.
  int64_t data = -1, validity = -1, heap = -1;
};

// The form in which a column of a tablet is stored; the offsets are not set.
SegmentTablet stored_form(const ColumnView& view, int64_t rows);

// Memory that parts of segments lie in.
class SegmentMemory {
 public:
  explicit SegmentMemory(DeviceBuffer device) : address_(device.address()), device_(std::move(device)) {}
  explicit SegmentMemory(PinnedBuffer pinned) : address_(pinned.address()), pinned_(std::move(pinned)) {}
  // Another's.
  explicit SegmentMemory(DeviceAddress address) : address_(address) {}
  SegmentMemory(const SegmentMemory&) = delete;
  SegmentMemory& operator=(const SegmentMemory&) = delete;
  ~SegmentMemory() {
    if (count_ != nullptr) *count_ -= bytes_;
  }

  // For kernels.
  DeviceAddress address() const { return address_; }
  std::byte* host_data() const { return pinned_.data(); }
  int64_t bytes() const { return std::max(device_.bytes(), pinned_.bytes()); }
  // So many bytes are part of a count until this is freed.
  void count_in(std::shared_ptr<std::atomic<int64_t>> count, int64_t bytes) {
    count_ = std::move(count);
    bytes_ = bytes;
  }
  // What it has may still be on its way to the device.
  std::optional<Arrival> arrival;

 private:
  const DeviceAddress address_;
  const DeviceBuffer device_;
  const PinnedBuffer pinned_;
  std::shared_ptr<std::atomic<int64_t>> count_;
  int64_t bytes_ = 0;
};

class ColumnSegment {
 public:
  enum class Place : uint8_t { Device, Pinned };
  // Of a tablet.
  struct Part {
    size_t memory = 0;  // in which of the segment's memories
    int64_t start = 0, bytes = 0;
  };

  ColumnSegment() = default;
  // One tablet in memory of the device that is another's, from whose start its offsets count.
  ColumnSegment(const SegmentTablet& tablet, DeviceAddress start)
      : tablets_{tablet}, parts_(1), memories_{std::make_shared<SegmentMemory>(start)} {}

  const std::vector<SegmentTablet>& tablets() const { return tablets_; }
  const Part& part(size_t tablet) const { return parts_[tablet]; }
  // Null where no part needs it.
  const std::shared_ptr<SegmentMemory>& memory_of(size_t tablet) const { return memories_[parts_[tablet].memory]; }
  // Of its tablets.
  int64_t bytes() const { return bytes_; }
  Place place() const { return place_; }
  // Where the part of a tablet starts, for kernels; means nothing where that has no bytes.
  DeviceAddress address_of(size_t tablet) const {
    const auto& memory = memory_of(tablet);
    return memory != nullptr ? memory->address() + parts_[tablet].start : DeviceAddress();
  }
  // In pinned memory, where tablets lie one behind the other: the first one's.
  const std::byte* host_data() const { return memories_.front()->host_data(); }
  // Whether it may still be on its way to the device. Whoever reads it there has the queue wait for it.
  bool may_be_under_way() const;
  void wait_in(Queue& queue) const;

 private:
  friend class SegmentLoader;
  Place place_ = Place::Device;
  std::vector<SegmentTablet> tablets_;
  std::vector<Part> parts_;                               // by tablet
  std::vector<std::shared_ptr<SegmentMemory>> memories_;  // the first is its own; null: it has none
  int64_t bytes_ = 0;
};

}  // namespace diptych::gpu
