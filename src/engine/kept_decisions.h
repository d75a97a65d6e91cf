// What was decided of where a program runs, kept for the next runs of the same text. To decide is to ask for facts of
// the program, for its columns and kernels on each device and for what was learnt: of a program that runs all the time
// that takes a few microseconds, but behind a commit, when none of it is in the processor's caches, as long as a
// short section.
//
//   a run goes as it was placed ──> its decision is kept ──> serves so many runs ──> the next one decides anew
//
// A decision is not kept where its run may make the next one another: a trial, a run elsewhere until columns and
// kernels are on a device, one of the first few, or one that took much longer than was expected.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/placement/place.h"
#include "engine/run/context.h"
#include "engine/run/section_runner.h"
#include "program/program.h"

namespace diptych {

class Device;

// What of a run its placement depends on.
struct ProgramRun {
  const Program& program;
  const ExecutionContext& context;
  int64_t wanted;  // as SectionTask has it
};

struct PlacementDecision {
  std::optional<size_t> section_at(int32_t address) const;

  std::shared_ptr<const ProgramFacts> facts;
  Placement placement;
  std::vector<Device*> devices;      // that sections were placed on, by number
  std::string not_found;             // why there is none of those that were asked for; empty: there is
  std::vector<uint64_t> chain_keys;  // of what runs teach, by chain; empty: nothing is learnt
  double cpu_ns = 0;                 // expected of the CPU for all chains, where auto chooses
};

// Whether it may be right for the next run. is_asked_for: nothing was chosen but how.
bool may_serve_again(const PlacementDecision& decision, bool is_asked_for);

// Thread safety: all members may be called by many threads at once.
class KeptDecisions {
 public:
  // Runs that a decision serves: so late another way is tried, or a table's growth seen, at most.
  static constexpr int most_uses = 15;

  // A decision, and what it was made for.
  struct Entry {
    struct Table {
      uint64_t first_tablet = 0;
      int64_t rows = 0;
    };
    std::shared_ptr<const PlacementDecision> decision;
    uint64_t text_number = 0, changes = 0;
    int64_t wanted = -1;
    int threads = 1;
    std::string device, residency, gpu_engine;
    std::vector<Table> tables;  // by source; of a file nothing is known
    int uses_left = most_uses;
  };
  // Nothing: the program has no number of its text. changes: a number that goes up whenever devices have others of its
  // columns, or there are others.
  static std::optional<Entry> entry_for(const ProgramRun& run, const PlacementChoice& choice, uint64_t changes,
                                        std::shared_ptr<const PlacementDecision> decision);

  void keep(Entry entry);
  // For a run of the same text, as many rows, threads and the same choice, over tables that begin with the same tablets
  // and have nearly as many rows; null: there is none, or it has served long enough.
  std::shared_ptr<const PlacementDecision> find(const ProgramRun& run, const PlacementChoice& choice, uint64_t changes);
  // A run of the text did not go as it was placed.
  void forget(uint64_t text_number);
  void clear();

 private:
  std::mutex mutex_;
  std::unordered_map<uint64_t, Entry> entries_;  // by number of the text
};

}  // namespace diptych
