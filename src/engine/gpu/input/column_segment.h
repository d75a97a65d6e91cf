// One column of a run of tablets, as one piece of device memory or of pinned host memory.
//
//   segment   |tablet 0: data, validity|tablet 1: data|tablet 2: data, offsets, heap| ...
//
// What a kernel reads is encoded as it is in the tablet; only the places differ. Pieces of some megabytes are what a
// bus moves at full speed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/device/device.h"
#include "tablet/tablet_source.h"

namespace diptych::gpu {

// Of each tablet: how it is stored, and where in the segment.
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

class ColumnSegment {
 public:
  enum class Place : uint8_t { Device, Pinned };

  ColumnSegment() = default;
  // One tablet in memory of the device that is another's, from whose start its offsets count.
  ColumnSegment(const SegmentTablet& tablet, DeviceAddress start) : tablets_{tablet}, starts_{0}, start_(start) {}

  const std::vector<SegmentTablet>& tablets() const { return tablets_; }
  int64_t bytes() const { return bytes_; }
  // Where the part of a tablet starts; of one past the last: bytes().
  int64_t start_of(size_t tablet) const { return tablet < starts_.size() ? starts_[tablet] : bytes_; }
  Place place() const { return place_; }
  // Where it starts, for kernels.
  DeviceAddress address() const {
    if (device_.bytes() == 0 && place_ == Place::Device) return start_;
    return place_ == Place::Device ? device_.address() : pinned_.address();
  }
  const std::byte* host_data() const { return pinned_.data(); }

 private:
  friend class SegmentLoader;
  Place place_ = Place::Device;
  std::vector<SegmentTablet> tablets_;
  std::vector<int64_t> starts_;
  int64_t bytes_ = 0;
  DeviceAddress start_;
  DeviceBuffer device_;
  PinnedBuffer pinned_;
};

}  // namespace diptych::gpu
