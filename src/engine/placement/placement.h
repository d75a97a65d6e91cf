// Decides which engine runs a section, and keeps count of what could not run where it was asked to.
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
//          what each residency takes now, and once columns and kernel are in place ──> device_pays()
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

#include "engine/device/device_list.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/placement/auto_devices.h"
#include "engine/placement/experience.h"
#include "engine/placement/profile_store.h"
#include "engine/placement/section_facts.h"
#include "engine/section_engine.h"

namespace diptych {

// What a connection's settings ask for; see base/settings.def.
struct PlacementChoice {
  std::string device = "auto";
  std::string residency = "auto";
  std::string gpu_engine = "auto";
  std::string fallback = "count";
  std::string share_tablets = "auto";
};

// What was decided about a section that the CPU runs.
struct PlacementNote {
  std::string fallback;  // why the device asked for does not run it; empty: none was, or it does
  std::string why;       // in a line, for EXPLAIN ANALYZE
  int64_t estimate_ns = 0;
  double limit = 0;     // bytes a second the memory gives; 0: not calibrated
  uint64_t lesson = 0;  // of the experience, that wants the CPU's time; 0: none does
};

class Placement {
 public:
  Placement();
  // For tests, with drivers of their own, CUDA's first, among which auto looks wherever it runs.
  Placement(std::vector<std::unique_ptr<DeviceDriver>> drivers, std::string profile_path);

  // Runs the section on a device, or returns nothing: then the CPU has to, and the note says why. Errors: those of the
  // section's rows, 57014; 22023 for a device that is not there; with fallback = error 0A000 naming the reason.
  std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice& choice, PlacementNote& note);
  // What Groups shows of a table that a device has; or nothing: then the CPU has to fill it anew, and the note says
  // why. is_known: the statement has fallen back before. Errors: 22003; 0A000 as run().
  std::shared_ptr<const TabletSource> close(OpenGroups& groups, const PlacementChoice& choice, bool is_known,
                                            PlacementNote& note);
  // Has these columns of rows that a device may have made in host memory; false, and is_known: as close().
  bool bring(const TabletSource& source, std::span<const size_t> columns, const PlacementChoice& choice, bool is_known,
             PlacementNote& note);
  // What the CPU took for a section whose note has a lesson.
  void learn(const PlacementNote& note, int64_t nanoseconds);

  // The kernel that the section would get, or why there is none.
  static gpu::SectionKernel kernel_of(const Program& program, int32_t address, const TabletSource& source);

  // What it has taken so far to copy a source's rows from a device to those who asked for them on the CPU.
  static QueueWork work_of_rows(const TabletSource& source);

  // Of every device, for all connections: what their buffers may take together. 0: nine tenths of what a device has.
  void set_device_memory_limit(int64_t bytes);
  int64_t device_memory_limit() const { return device_memory_limit_.load(std::memory_order_relaxed); }
  DeviceList& devices() { return devices_; }
  ProfileStore& profiles() { return profiles_; }
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
             const HostProfile& host, const AutoDevice& candidate, const PlacementChoice& choice,
             std::vector<Option>& options);
  static const Option* best_of(const std::vector<Option>& options);
  static const Option* fastest_in_place(const std::vector<Option>& options, double cpu_ns);
  const Option* try_again(int64_t decision, const std::vector<Option>& options, const Option* chosen, double cpu_ns);
  // What a section's runs have left on the device, and what they usually take of an estimate: 1 before so many.
  DeviceState state_of(uint64_t key, gpu::Residency residency, const DeviceState& settled);
  double ratio_of(uint64_t key, int least_runs);
  int runs_of(uint64_t key);
  // Of those about a section where it runs; counted from 1.
  int64_t next_decision(uint64_t section);
  bool rests(uint64_t key, int64_t decision);
  void note_run(uint64_t key, const SectionFacts& facts);
  bool check_kernel(const SectionTask& task, const PlacementChoice& choice, Device& device, uint64_t key);
  // Nothing: the failure says why.
  std::optional<SectionResult> run_on(const SectionTask& task, const PlacementChoice& choice, Device& device,
                                      gpu::Residency residency, double alone_ns, Failure& failure);
  // The device and the CPU together; nothing where the device can't.
  std::optional<SectionResult> run_shared(const SectionTask& task, gpu::GpuEngine& engine, gpu::Residency residency,
                                          gpu::KernelChoice kernels, std::string& reason);
  void describe_cpu(const SectionTask& task, const HostProfile& host, PlacementNote& note);

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
  ProfileStore profiles_;
  std::atomic<int64_t> device_memory_limit_{0};
  mutable std::mutex mutex_;  // guards what follows, up to auto_devices_
  std::map<Device*, std::unique_ptr<gpu::GpuEngine>> engines_;
  std::map<std::string, int64_t> fallbacks_;
  Experience experience_;
  AutoDevices auto_devices_;  // last: its thread uses the others
};

}  // namespace diptych
