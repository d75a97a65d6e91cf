// What a section is expected to take on an engine: pure functions of facts about the section and of the machine's
// calibration.
//
//   CPU       max(bytes / memory rate, work / cores)
//   cached    move what is not there yet;        then max(bytes / device memory rate, work)
//   streamed  fill pinned memory, then max(bytes / bus rate, kernel): copies and kernels overlap
//   mapped    fill pinned memory, then max(bytes / rate of reading host memory, work)
//   serial    bytes / pageable rate + kernel
//   and on a device: launches, the compiler where the kernel is new, and the result's way back
//
// The division into computing, memory and delay is that of GPL's model (Paul, He and He 2016, section 4.1), with
// measured rates in place of instruction counts.
#pragma once

#include <cstdint>
#include <string>

#include "cost/calibration.h"
#include "cost/transport.h"

namespace diptych {

// What is known of a section before it runs.
struct SectionFacts {
  int64_t rows = 0;          // of the tablets that are needed
  int64_t bytes = 0;         // of the columns that it reads, encoded
  int64_t wanted_bytes = 0;  // of them, those near rows that the conditions before let through: what a kernel loads
  int64_t result_bytes = 0;  // that come back from a device, estimated
  int64_t tablets = 0;
  WorkCounts work{};  // by kind: opcodes times the rows that reach them
};

// What a device has of the section already.
struct DeviceState {
  int64_t cached_bytes = 0;  // of the columns, in its memory
  int64_t pinned_bytes = 0;  // of the columns, in pinned host memory
  bool is_compiled = false;
};

struct CostEstimate {
  double move_ns = 0;     // bringing columns to where they are read
  double compute_ns = 0;  // reading and computing; overlapped moves count in the longer of the two
  double launch_ns = 0;
  double compile_ns = 0;
  double result_ns = 0;
  double limit = 0;  // bytes a second that the slowest way the columns take can give
  double total_ns() const { return move_ns + compute_ns + launch_ns + compile_ns + result_ns; }
};

CostEstimate estimate_cpu(const SectionFacts& facts, const HostCalibration& host, int threads);

CostEstimate estimate_device(const SectionFacts& facts, const HostCalibration& host, const DeviceCalibration& device,
                             Residency residency, const DeviceState& state);

// Bytes of device memory that the section needs at once.
int64_t device_bytes_needed(const SectionFacts& facts, Residency residency);

// Memory that there is for a section.
struct MemoryRoom {
  int64_t device_bytes = 0;
  int64_t pinned_bytes = 0;  // for columns
};

// Whether the section can be run so.
bool fits(const SectionFacts& facts, Residency residency, const MemoryRoom& room);

// What a run finds when others have gone before it.
DeviceState settled_state(const SectionFacts& facts, const MemoryRoom& room);

// The residency that takes least among those that fit, once settled. can_map: kernels can read pinned memory.
Residency best_residency(const SectionFacts& facts, const HostCalibration& host, const DeviceCalibration& device,
                         const MemoryRoom& room, bool can_map);

}  // namespace diptych
