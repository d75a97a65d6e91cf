// Runs parallel sections on one device.
//
//   section_run.h   a section: its batches, and what they make put together
//   section_batch.h   a batch of tablets: one kernel
//     input/            its columns on the device, by residency
//     section_kernels.h   which kernel: generator/ makes one of the section, interpreter/ has one for all
//     output/, rows/     rows brought back, and row sets that stay there
//     sort/             rows in order
//
// Owns what stays on the device between statements: cached columns, columns in pinned memory, and what sections read,
// made ready.
//
// Thread safety: run() may be called by many threads at once; statements share the device by the queues' order, and its
// memory by device_reservations.h.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/machine.h"
#include "cost/transport.h"
#include "engine/device/device.h"
#include "engine/gpu/device_reservations.h"
#include "engine/gpu/input/input_cache.h"
#include "engine/gpu/input/segment_cache.h"
#include "engine/gpu/section_kernels.h"
#include "engine/gpu/sort/device_sort.h"
#include "engine/run/section_task.h"

namespace diptych::gpu {

// Bytes of pinned memory that one device's columns may take: a quarter of the host's, which is what memory_limit leaves
// if it is not set.
inline int64_t most_pinned_column_bytes() { return machine_memory_bytes() / 4; }

// Why a section was not run: a row was met that only the CPU can do, or rows met too many others. The first depends on
// the literals.
inline constexpr const char* row_behind_limit = "a row fails that LIMIT may not reach";
inline constexpr const char* case_beyond_ascii =
    "upper and lower case of characters beyond ASCII are known on the CPU only";
inline constexpr const char* too_many_pairs = "more pairs of rows that meet than a kernel takes at once";

class GpuEngine {
 public:
  // Columns that it keeps on the device give way to whatever else needs room there. One engine for a device.
  explicit GpuEngine(Device& device);
  ~GpuEngine() { device_.when_short(nullptr); }

  // The whole section; or nothing, and `reason` says why the CPU has to. Errors: those of the section's rows, 53200,
  // 57014, 58000, 58030, XX001.
  std::optional<SectionResult> run(const SectionTask& task, Residency residency, KernelChoice choice,
                                   std::string& reason);

  // Begins with the first batch of a section and returns while the device works: beside those in task.started, all of
  // this engine, in the place that they have. Null: there is no place without waiting, or no kernel; nothing has
  // happened. Errors: as run(), but for those of rows.
  std::unique_ptr<StartedSection> start(const SectionTask& task, Residency residency, KernelChoice choice);

  // Brings what has changed of a table to the device, where statements have read columns of an earlier state there, if
  // it is little. Errors: as run().
  void follow(const std::shared_ptr<const TabletSource>& table);

  // Lets go of all that is kept for other statements and that none uses: the device is lost.
  void forget();
  // Of the device's buffers, -1: nine tenths of what it has. Columns that are kept there go, so that another limit
  // finds its memory in one piece where a driver has but one.
  void set_memory_limit(int64_t bytes);
  Device& device() { return device_; }
  SectionKernels& kernels() { return kernels_; }
  const DeviceSort& sort() const { return sort_; }
  SegmentCache& device_columns() { return device_columns_; }
  SegmentCache& pinned_columns() { return pinned_columns_; }
  // How often columns were dropped for want of memory.
  uint64_t drops() const { return device_columns_.drops() + pinned_columns_.drops(); }
  InputCache& inputs() { return inputs_; }
  DeviceReservations& reservations() { return reservations_; }
  // A queue that nobody else uses until it is given back.
  // report: see Queue::report_to().
  std::unique_ptr<Queue> take_queue(WorkReport* report);
  void give_back(std::unique_ptr<Queue> queue);

 private:
  Device& device_;
  const std::unique_ptr<CubLibrary> cub_;  // nullptr: none, or no CUDA device
  const DeviceSort sort_;
  // On the device its own limit is enough.
  SegmentCache device_columns_{device_, ColumnSegment::Place::Device, std::numeric_limits<int64_t>::max()};
  SegmentCache pinned_columns_{device_, ColumnSegment::Place::Pinned, most_pinned_column_bytes()};
  InputCache inputs_;
  SectionKernels kernels_{device_};
  DeviceReservations reservations_{device_};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Queue>> queues_;
};

}  // namespace diptych::gpu
