// The engines of devices: runs sections on them where placement/ chooses so or somebody asks for it, and keeps count of
// what could not run where it was asked to.
//
//   device = cpu            the CPU, always
//   device = cuda, opencl   that device; what it can't do runs on the CPU, with the reason counted and shown
//   device = auto           whatever is expected to be faster
//
//   auto   few rows? ──yes──> CPU                            decided in less than a microsecond, nothing is loaded
//            | no
//          facts, estimate ──> short on the CPU? ──yes──> CPU
//            | no
//          devices found? ──not yet──> CPU, while a thread looks for them
//            | yes
//          a few milliseconds on the CPU, and not measured there? ──yes──> CPU
//            | no
//          what each residency takes now, and once columns and kernel are in place ──> placement/choose.h
//
// Owned by a database: devices, their caches and the counters are shared by its connections.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/device/auto_devices.h"
#include "engine/device/calibration_store.h"
#include "engine/device/device_list.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/placement/experience.h"
#include "engine/placement/section_facts.h"
#include "engine/run/section_runner.h"

namespace diptych {

class Engines final : public SectionRunner {
 public:
  Engines();
  // For tests, with drivers of their own, CUDA's first, among which auto looks wherever it runs.
  Engines(std::vector<std::unique_ptr<DeviceDriver>> drivers, std::string calibration_path);

  std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice& choice,
                                   PlacementNote& note) override;
  std::shared_ptr<const TabletSource> close(OpenGroups& groups, const PlacementChoice& choice, bool is_known,
                                            PlacementNote& note) override;
  bool bring(const TabletSource& source, std::span<const size_t> columns, const PlacementChoice& choice, bool is_known,
             PlacementNote& note) override;
  QueueWork work_of_rows(const TabletSource& source) const override;
  void learn(const PlacementNote& note, int64_t nanoseconds) override;

  // The kernel that the section would get, or why there is none.
  static gpu::SectionKernel kernel_of(const Program& program, int32_t address, const TabletSource& source);

  // Of every device, for all connections: what their buffers may take together. 0: nine tenths of what a device has.
  void set_device_memory_limit(int64_t bytes);
  int64_t device_memory_limit() const { return device_memory_limit_.load(std::memory_order_relaxed); }
  DeviceList& devices() { return devices_; }
  CalibrationStore& calibrations() { return calibrations_; }
  // Reason -> how often, since the database was opened; of many reasons the last are counted together.
  std::map<std::string, int64_t> fallbacks() const;

 private:
  struct Option;
  // Why a device did not run a section.
  struct Failure {
    std::string reason;         // the same for all sections that fail alike
    std::string details;        // numbers; may be empty
    bool lacks_memory = false;  // of its own
    bool is_lasting = false;    // it would fail again, whatever the literals
  };
  std::optional<SectionResult> run_where_rows_are(const SectionTask& task, const PlacementChoice& choice,
                                                  Device& device, PlacementNote& note);
  std::optional<SectionResult> run_forced(const SectionTask& task, const PlacementChoice& choice, PlacementNote& note);
  std::optional<SectionResult> run_auto(const SectionTask& task, const PlacementChoice& choice, PlacementNote& note);
  void weigh(const SectionTask& task, uint64_t section, int64_t decision, const SectionFacts& facts,
             const HostCalibration& host, const AutoDevice& candidate, const PlacementChoice& choice,
             std::vector<Option>& options);
  // What a section's runs have left on the device, and what they usually take of an estimate: 1 before so many.
  DeviceState state_of(uint64_t key, Residency residency, const DeviceState& settled);
  double ratio_of(uint64_t key, int least_runs);
  int runs_of(uint64_t key);
  // Of those about a section where it runs; counted from 1.
  int64_t next_decision(uint64_t section);
  bool rests(uint64_t key, int64_t decision);
  void note_run(uint64_t key, const SectionFacts& facts);
  bool check_kernel(const SectionTask& task, const PlacementChoice& choice, Device& device, uint64_t key);
  // Has all kernels compiled that the section and those behind it will need there.
  void prepare_kernels(const SectionTask& task, const PlacementChoice& choice, gpu::GpuEngine& engine,
                       Residency residency);
  // Nothing: the failure says why.
  std::optional<SectionResult> run_on(const SectionTask& task, const PlacementChoice& choice, Device& device,
                                      Residency residency, double alone_ns, Failure& failure);
  // The same, but what has no room to stay is streamed: `streamed` says why.
  std::optional<SectionResult> run_or_stream(const SectionTask& task, const PlacementChoice& choice, Device& device,
                                             Residency residency, double alone_ns, Failure& failure,
                                             std::string& streamed);
  // The device and the CPU together; nothing where the device can't.
  std::optional<SectionResult> run_shared(const SectionTask& task, gpu::GpuEngine& engine, Residency residency,
                                          gpu::KernelChoice kernels, std::string& reason);
  void describe_cpu(const SectionTask& task, const HostCalibration& host, PlacementNote& note);

  static std::string loss_of(const Device& device);
  MemoryRoom room_of(const Device& device) const;
  gpu::GpuEngine& engine_for(Device& device);
  // What is kept on a device that is lost.
  void forget(Device& device);
  void count_failures(gpu::GpuEngine& engine);
  // That the CPU runs a section. Errors: 0A000 where a fallback is one.
  void note_fallback(const std::string& device, const Failure& failure, const PlacementChoice& choice,
                     PlacementNote& note);
  void count_fallback(const std::string& reason);
  // Runs what a device may fail at; false, and is_known: as close().
  template <typename Work>
  bool attempt(Device& device, const PlacementChoice& choice, bool is_known, PlacementNote& note, Work&& work);

  DeviceList devices_;
  CalibrationStore calibrations_;
  std::atomic<int64_t> device_memory_limit_{0};
  mutable std::mutex mutex_;  // guards what follows, up to auto_devices_
  std::map<Device*, std::unique_ptr<gpu::GpuEngine>> engines_;
  std::map<std::string, int64_t> fallbacks_;
  Experience experience_;
  AutoDevices auto_devices_;  // last: its thread uses the others
};

}  // namespace diptych
