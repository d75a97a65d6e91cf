// Runs parallel sections on one device.
//
//   section -> batches of tablets -> columns on the device (by residency) -> generated kernel -> rows, groups, sorted rows
//
// Owns what stays on the device between statements: cached columns, columns in pinned memory, compiled kernels.
//
// Thread safety: run() may be called by many threads at once; statements take turns on the device by the queues' order.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/segment_cache.h"
#include "engine/section_engine.h"

namespace diptych::gpu {

// Where a section's columns are while its kernel reads them.
enum class Residency : uint8_t {
  Serial,    // copied in, read, thrown away: one batch after the other
  Streamed,  // the same from pinned memory, several batches at once, so that copies and kernels overlap
  Mapped,    // left in pinned host memory, read over the bus
  Cached     // copied once, then on the device
};
const char* name_of(Residency residency);

class GpuEngine {
 public:
  explicit GpuEngine(Device& device);

  std::optional<SectionResult> run(const SectionTask& task, Residency residency, std::string& reason);

  Device& device() { return device_; }
  SegmentCache& device_columns() { return device_columns_; }
  SegmentCache& pinned_columns() { return pinned_columns_; }
  // A queue that nobody else uses until it is given back.
  std::unique_ptr<Queue> take_queue();
  void give_back(std::unique_ptr<Queue> queue);

 private:
  Device& device_;
  SegmentCache device_columns_{device_, ColumnSegment::Place::Device};
  SegmentCache pinned_columns_{device_, ColumnSegment::Place::Pinned};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace diptych::gpu
