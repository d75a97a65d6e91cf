#include "cost/cost_model.h"

#include <algorithm>

namespace diptych {
namespace {

constexpr double ns_per_second = 1e9;

// What a section costs the CPU before its first row: morsels, registers and where results go.
constexpr double cpu_section_ns = 4e3;
// Starting a thread of the pool on a section and waiting for the last one.
constexpr double thread_start_ns = 25e3;
// What a statement's section costs the host for a device: batches, descriptions of tablets, buffers.
constexpr double device_section_ns = 40e3;
constexpr double device_tablet_ns = 100;  // to be described

double time_of(double bytes, double rate) { return bytes / rate * ns_per_second; }

int64_t batches_of(const SectionFacts& facts, Residency residency) {
  if (residency == Residency::Cached || residency == Residency::Mapped) return 1;
  const int64_t batches = residency == Residency::Serial
                              ? (facts.bytes + facts.result_bytes) / most_batch_bytes
                              : (columns_at_once * facts.bytes + batches_at_once * facts.result_bytes) / streamed_bytes;
  return std::clamp<int64_t>(batches, 1, std::max<int64_t>(facts.tablets, 1));
}

// How many cores the threads are worth, which take morsels until there are none: of 100,000 rows one takes 65536 and
// another the rest.
double cores_at_work(int64_t rows, int threads) {
  if (rows == 0) return 1;
  const int64_t takers = std::max(threads, 1), whole = rows / morsel_rows, rest = rows % morsel_rows;
  // Of the one who has most to do; the rest goes to somebody who has less, if anybody has.
  const int64_t most = whole % takers == 0 ? whole / takers * morsel_rows + rest : (whole / takers + 1) * morsel_rows;
  return static_cast<double>(rows) / static_cast<double>(most);
}

// With so many cores at work.
CostEstimate estimate_cores(const SectionFacts& facts, const HostCalibration& host, double cores) {
  double work_ns = 0;
  for (size_t kind = 0; kind < work_kind_count; ++kind) work_ns += facts.work[kind] * host.row_ns[kind];
  CostEstimate cost;
  cost.limit = std::min(host.read_one * cores, std::max(host.read_one, host.read_all));
  cost.compute_ns = std::max(time_of(static_cast<double>(facts.bytes), cost.limit), work_ns / cores);
  cost.launch_ns = cpu_section_ns + (cores > 1 ? thread_start_ns : 0);
  return cost;
}

}  // namespace

const char* name_of(Residency residency) {
  constexpr const char* names[] = {"serial", "streamed", "mapped", "cached"};
  return names[static_cast<size_t>(residency)];
}

CostEstimate estimate_cpu(const SectionFacts& facts, const HostCalibration& host, int threads) {
  const CostEstimate alone = estimate_cores(facts, host, 1),
                     together = estimate_cores(facts, host, cores_at_work(facts.rows, threads));
  return alone.total_ns() < together.total_ns() ? alone : together;
}

CostEstimate estimate_device(const SectionFacts& facts, const HostCalibration& host, const DeviceCalibration& device,
                             Residency residency, const DeviceState& state) {
  const auto bytes = static_cast<double>(facts.bytes), result = static_cast<double>(facts.result_bytes);
  double work = 0;
  for (size_t kind = 0; kind < work_kind_count; ++kind)
    work += facts.work[kind] * device_work_of(static_cast<WorkKind>(kind));
  const double work_ns = work * device.multiply_ns;
  // Columns behind a filter are read in part only where they lie in memory that the kernel reads itself.
  const auto wanted = static_cast<double>(facts.wanted_bytes);
  const double kernel_ns = std::max(time_of(wanted + result, device.read), work_ns);
  // Pinned memory is filled by one thread, which reads and writes.
  const double fill_ns = time_of(std::max(0.0, bytes - static_cast<double>(state.pinned_bytes)), host.read_one / 2);
  CostEstimate cost;
  switch (residency) {
    case Residency::Cached:
      cost.move_ns = time_of(std::max(0.0, bytes - static_cast<double>(state.cached_bytes)), device.to_device_pageable);
      cost.compute_ns = kernel_ns;
      cost.limit = device.read;
      break;
    case Residency::Serial:
      cost.move_ns = time_of(bytes, device.to_device_pageable);
      cost.compute_ns = kernel_ns;
      cost.limit = device.to_device_pageable;
      break;
    case Residency::Streamed:
      cost.move_ns = fill_ns;
      cost.compute_ns = std::max(time_of(bytes, device.to_device_pinned), kernel_ns);
      cost.limit = device.to_device_pinned;
      break;
    case Residency::Mapped:
      cost.move_ns = fill_ns;
      cost.compute_ns = std::max(time_of(wanted, device.mapped), work_ns);
      cost.limit = device.mapped;
      break;
  }
  // Descriptions of tablets stay with columns that stay.
  const bool is_described = (residency == Residency::Cached && state.cached_bytes >= facts.bytes) ||
                            (residency == Residency::Mapped && state.pinned_bytes >= facts.bytes);
  cost.launch_ns = device_section_ns + (is_described ? 0 : static_cast<double>(facts.tablets) * device_tablet_ns) +
                   static_cast<double>(batches_of(facts, residency)) * device.launch_ns;
  if (!state.is_compiled) cost.compile_ns = device.compile_ns;
  cost.result_ns = time_of(result, device.to_host_pinned);
  // A bus has two directions: rows go back while columns come.
  if (residency == Residency::Streamed || residency == Residency::Mapped)
    cost.result_ns = std::max(0.0, cost.result_ns - cost.compute_ns);
  return cost;
}

int64_t device_bytes_needed(const SectionFacts& facts, Residency residency) {
  // Output columns get room for every row that may come; see engine/gpu/batch_sizes.h.
  if (residency == Residency::Cached) return facts.bytes + facts.result_bytes * 2;
  // Batches are as small as memory is, but not less than a tablet.
  const int64_t columns = residency == Residency::Mapped ? 0 : facts.bytes;
  const int64_t batches = std::max<int64_t>(1, facts.tablets);
  return (columns + facts.result_bytes * 2) / batches * std::min(batches, 2 * batches_at_once);
}

bool fits(const SectionFacts& facts, Residency residency, const MemoryRoom& room) {
  // Mapped columns have to be there all at once; streamed ones make room for one another.
  if (residency == Residency::Mapped && facts.bytes > room.pinned_bytes) return false;
  return device_bytes_needed(facts, residency) <= room.device_bytes;
}

DeviceState settled_state(const SectionFacts& facts, const MemoryRoom& room) {
  return {facts.bytes, facts.bytes <= room.pinned_bytes ? facts.bytes : 0, true};
}

Residency best_residency(const SectionFacts& facts, const HostCalibration& host, const DeviceCalibration& device,
                         const MemoryRoom& room, bool can_map) {
  if (fits(facts, Residency::Cached, room)) return Residency::Cached;
  const DeviceState settled = settled_state(facts, room);
  Residency best = Residency::Serial;
  double least = estimate_device(facts, host, device, best, settled).total_ns();
  for (const Residency other : {Residency::Streamed, Residency::Mapped}) {
    if (other == Residency::Mapped && !can_map) continue;
    if (!fits(facts, other, room)) continue;
    const double cost = estimate_device(facts, host, device, other, settled).total_ns();
    if (cost >= least) continue;
    best = other;
    least = cost;
  }
  return best;
}

}  // namespace diptych
