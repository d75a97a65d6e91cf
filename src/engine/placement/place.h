// Where the sections of a program run, as a pure function of what is known before the first one does: estimates of the
// sections and of what flows between them, the calibration of the machine, what is in place, and what runs before have
// taught.
//
//   of each chain    the CPU     sum of its sections
//                    each way    a device and a residency: table sections there; sections that read groups stay where
//                                these were made, unless they are few, which come over the bus; then the CPU goes on
//   least now        -> that
//   least settled    -> that, once runs elsewhere have lost as much as it takes to move columns and compile kernels
//   now and then     -> another that is not expected to take much longer, and needs nothing first
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/cost_model.h"
#include "engine/placement/learnt.h"
#include "engine/placement/program_facts.h"

namespace diptych {

// What the CPU needs less time for does not go to a device: launching, waiting and the host's part take nearly that
// long.
inline constexpr double least_device_ns = 40e3;

// What a device can do of a section that reads a table, and what is in place for it.
struct SectionOnDevice {
  bool can_run = false;
  DeviceState state;
};

struct DeviceFacts {
  std::string name;
  DeviceCalibration calibration;
  MemoryRoom room;
  bool can_map = false;
  std::vector<SectionOnDevice> sections;  // as many as the program has
};

struct PlacementQuestion {
  const ProgramFacts& program;
  const HostCalibration& host;
  int threads = 1;
  std::span<const DeviceFacts> devices;
  std::span<const LearntChain> learnt;  // by chain
  std::optional<Residency> residency;   // asked for
  bool is_asked_for = false;            // the one device that there is: sections that read a table run there
  bool tells_why = false;
  std::string no_device{};  // why there is none that works
};

// A way to run a chain on a device, and what it is expected to take.
struct ChainWay {
  size_t device = 0;
  Residency residency = Residency::Cached;
  double estimate_ns = 0;   // with columns in place and kernels compiled
  double settled_ns = 0;    // the same, as runs have shown it to be
  double now_ns = 0;        // with what is there at the moment
  bool is_settled = false;  // that is all it needs
};

// Where a section runs: on no device, the CPU. What only reads what others have made goes where that is.
struct SectionPlace {
  std::optional<size_t> device;
  Residency residency = Residency::Cached;
  double estimate_ns = 0;  // of the cost model, with what is there at the moment
  double settled_ns = 0;   // with all in place
  double limit = 0;        // bytes a second that the slowest way its columns take can give
};

struct ChainPlace {
  std::optional<ChainWay> way;   // nothing: the CPU
  double cpu_estimate_ns = 0;    // the cost model's
  double cpu_ns = 0;             // as runs have shown it to be
  std::optional<ChainWay> best;  // the way that takes least once it is settled
  bool pays_rent = false;        // it is not: the run counts for moving there
  double chosen_ns = 0;          // what is expected to take least of what may be chosen now
  bool is_trial = false;         // another is run, to learn what it takes
  bool is_known = false;         // what it takes where it runs, from several runs
  std::string why;               // in a line, for EXPLAIN ANALYZE
};

struct Placement {
  std::vector<SectionPlace> sections;  // as the program's
  std::vector<ChainPlace> chains;
};

// What the CPU is expected to take for all chains.
double expected_cpu_ns(const PlacementQuestion& question);

Placement place(const PlacementQuestion& question);

// Whether the run of a chain took about as long as was expected where it was placed, or so little that it may stay
// there.
bool is_as_expected(const ChainPlace& placed, double ns);

// What the run of a chain that was placed so teaches. is_usual: it ran as it was placed, by the kernels that it will
// have, and beside no others.
void learn(const ChainPlace& placed, double ns, bool is_usual, LearntChain& chain);

}  // namespace diptych
