// The engines of devices: runs sections on them where placement/ chooses so or somebody asks for it, and keeps count of
// what could not run where it was asked to.
//
//   device = cpu            the CPU, always
//   device = cuda, opencl   that device; what it can't do runs on the CPU, with the reason counted and shown
//   device = auto           whatever is expected to be faster
//
//   auto   tables of few rows? ──yes──> CPU                  decided in less than a microsecond, nothing is loaded
//            | no
//          the program's first section? ──yes──> all sections are placed: placement/place.h
//            | no
//          as they were placed; what reads rows that a device has made runs there
//
// Devices are looked for by a thread: until they are found, nothing waits, and the CPU runs everything.
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
#include <unordered_map>
#include <vector>

#include "engine/device/auto_devices.h"
#include "engine/device/calibration_store.h"
#include "engine/device/device_list.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/kept_decisions.h"
#include "engine/placement/place.h"
#include "engine/run/section_runner.h"

namespace diptych {

class Engines final : public SectionRunner {
 public:
  Engines();
  // For tests, with drivers of their own, CUDA's first, among which auto looks wherever it runs.
  Engines(std::vector<std::unique_ptr<DeviceDriver>> drivers, std::string calibration_path);

  std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice& choice,
                                   PlacementNote& note) override;
  bool start(const SectionTask& task, const PlacementChoice& choice) override;
  std::shared_ptr<DeviceIndex> build(const IndexTask& task, bool is_known, PlacementNote& note) override;
  bool attempt(Device& device, const PlacementChoice& choice, bool is_known, PlacementNote& note,
               const std::function<void()>& work) override;

  // The kernel that the section would get, or why there is none.
  static gpu::SectionKernel kernel_of(const Program& program, int32_t address, const TabletSource& source);

  // Whether a statement has been run on a device.
  bool uses_devices() const;
  // A commit has changed the table: what is little of it goes to the devices that statements have read it on, so that
  // the next one finds it there. Whatever fails is left to that one.
  void follow(const std::shared_ptr<const TabletSource>& table) noexcept;

  // Of every device, for all connections: what their buffers may take together. 0: nine tenths of what a device has.
  void set_device_memory_limit(int64_t bytes);
  int64_t device_memory_limit() const { return device_memory_limit_.load(std::memory_order_relaxed); }
  DeviceList& devices() { return devices_; }
  CalibrationStore& calibrations() { return calibrations_; }
  // Reason -> how often, since the database was opened; of many reasons the last are counted together.
  std::map<std::string, int64_t> fallbacks() const;

 private:
  class PlacedProgram;
  // Why a device did not run a section.
  struct Failure {
    std::string reason;         // the same for all sections that fail alike
    std::string details;        // numbers; may be empty
    bool lacks_memory = false;  // of its own
    bool is_lasting = false;    // it would fail again, whatever the literals
  };
  // Whether a kernel can do a section that reads a table, and whether that is compiled.
  struct KernelOutlook {
    std::string unsupported;  // why none can
    bool is_compiled = false;
  };
  // Of the columns of a section that programs of a number have, how many bytes are on a device, and pinned for it;
  // while its caches have these versions.
  struct ColumnsThere {
    uint64_t device_version = 0, pinned_version = 0;
    int64_t cached_bytes = 0, pinned_bytes = 0;
  };
  // Where the sections are to run that meet the index, whose rows the host has; null: on the CPU.
  Device* device_of_meeting(const IndexTask& task, std::string& reason);
  std::optional<SectionResult> run_where_rows_are(const SectionTask& task, const PlacementChoice& choice,
                                                  Device& device, PlacementNote& note);
  std::optional<SectionResult> run_as_placed(const SectionTask& task, const PlacementChoice& choice,
                                             PlacementNote& note);
  // The run's, placed if it was not yet.
  PlacedProgram& placed(const ProgramRun& run, const PlacementChoice& choice, std::unique_ptr<PlacedRun>& slot);
  std::unique_ptr<PlacedProgram> place_program(const ProgramRun& run, const PlacementChoice& choice);
  std::shared_ptr<const PlacementDecision> decide(const ProgramRun& run, const PlacementChoice& choice);
  // Goes up when a device was found, lost, or gave columns up for want of memory.
  uint64_t device_changes();
  // The program's, of this run or of one before of the same number.
  std::shared_ptr<const ProgramFacts> known_facts(const ProgramRun& run);
  // Of the devices that auto may choose, which the decision gets; where there are none, why. Tells of the work, so that
  // they are looked for.
  std::vector<DeviceFacts> auto_facts(const ProgramRun& run, const PlacementChoice& choice, PlacementDecision& made,
                                      std::string& no_device);
  // What runs of the program's chains have taught, whose keys the decision gets.
  void find_learnt(const ProgramRun& run, const PlacementChoice& choice, PlacementDecision& made,
                   std::vector<LearntChain>& learnt);
  DeviceFacts facts_of(const ProgramRun& run, const PlacementChoice& choice, Device& device,
                       const DeviceCalibration& calibration, const ProgramFacts& program);
  ColumnsThere columns_there(const ProgramRun& run, const PlacedSection& section, gpu::GpuEngine& engine);
  KernelOutlook outlook_of(const Program& program, const PlacedSection& section, const PlacementChoice& choice,
                           Device& device, const ProgramFacts& facts);
  static uint64_t outlook_key(uint64_t program, int32_t address, const PlacementChoice& choice, const Device& device);
  // Of a section that was placed on a device. ran: null where it failed; streamed: why it was, if it was.
  void note_run(const SectionTask& task, const PlacementChoice& choice, PlacedProgram& placed,
                const SectionProfile* ran, const std::string& streamed, const Failure& failure);
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
  // Whether it reads a table that a device may be worth, or was asked for.
  bool is_for_placement(const SectionTask& task, const PlacementChoice& choice) const;
  // As start(), on the device.
  bool start_on(const SectionTask& task, const PlacementChoice& choice, Device& device, Residency residency);
  // Of a section that was started before its turn. Nothing: it was not, or has failed, and nothing else is begun.
  static std::optional<SectionResult> finish_started(const SectionTask& task);
  // The device and the CPU together; nothing where the device can't.
  std::optional<SectionResult> run_shared(const SectionTask& task, gpu::GpuEngine& engine, Residency residency,
                                          gpu::KernelChoice kernels, std::string& reason);
  void describe_cpu(const SectionTask& task, const HostCalibration& host, PlacementNote& note);

  static std::string loss_of(const Device& device);
  MemoryRoom room_of(const Device& device) const;
  gpu::GpuEngine& engine_for(Device& device);
  // Null: none has been asked for yet.
  gpu::GpuEngine* find_engine(Device& device);
  // What is kept on a device that is lost.
  void forget(Device& device);
  void count_failures(gpu::GpuEngine& engine);
  // That the CPU runs a section. Errors: 0A000 where a fallback is one.
  void note_fallback(const std::string& device, const Failure& failure, const PlacementChoice& choice,
                     PlacementNote& note);
  void count_fallback(const std::string& reason);

  DeviceList devices_;
  CalibrationStore calibrations_;
  std::atomic<int64_t> device_memory_limit_{0};
  std::atomic<int64_t> running_{0};  // programs that were placed and are not through
  KeptDecisions kept_decisions_;
  mutable std::mutex mutex_;  // guards what follows, up to auto_devices_
  std::map<Device*, std::unique_ptr<gpu::GpuEngine>> engines_;
  std::map<std::string, int64_t> fallbacks_;
  std::unordered_map<uint64_t, std::shared_ptr<const ProgramFacts>> facts_;  // by number of the program
  std::unordered_map<uint64_t, KernelOutlook> outlooks_;                     // by outlook_key()
  std::unordered_map<uint64_t, ColumnsThere> columns_there_;                 // by number, section and device
  std::unordered_map<uint64_t, LearntChain> learnt_;                         // by chain of a program
  AutoDevices auto_devices_;                                                 // last: its thread uses the others
};

}  // namespace diptych
