// What placement has learnt about sections that ran before: their times, what of them is on a device, and what it would
// have saved to have it there.
//
// A section is known again by its opcodes and by the tablets it reads, so that a growing table is a new section.
//
// Thread safety: none of its own; Placement guards it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/run/section_task.h"

namespace diptych {

struct SectionExperience {
  double ratio = 1;            // of a usual run's time to its estimate, on a device with columns and kernel in place
  int runs = 0;                // that the ratio was made of
  double last_ratio = 1;       // of the last of them
  double regret_ns = 0;        // time lost so far by not having had the columns and the kernel there
  int64_t decisions = 0;       // about where a section runs
  int64_t rests_until = 0;     // the decision before which a way to run it is not one
  int64_t resident_bytes = 0;  // that a run has left on the device, or in pinned memory
  std::string kernel;          // whose times the ratio is of: "cuda:0 interpreter"; empty: the CPU's, or none
  double expected_ratio = 1;   // before runs are enough to say
  bool is_compiled = false;
  bool is_checked = false;  // whether a kernel can do it is known
  std::string unsupported;  // why none can
};

class Experience {
 public:
  // Of a section run in one way. An empty one when it was not met before.
  SectionExperience& of(uint64_t section) {
    // Sections come and go with their tablets; a start from nothing now and then costs little.
    constexpr size_t most_sections = 4096;
    if (sections_.size() >= most_sections && !sections_.contains(section)) sections_.clear();
    return sections_[section];
  }

 private:
  std::unordered_map<uint64_t, SectionExperience> sections_;
};

// Tells sections apart; literals do not count.
uint64_t section_key(const SectionTask& task);
// The same for the section behind the Parallel at `address` and the program around it.
uint64_t program_key(const Program& program, int32_t address);
// Of a section run in one way, which the number stands for.
uint64_t way_key(uint64_t section, uint64_t way);

// A new time among older ones. What else the machine does makes runs slower, never faster: a slow one counts when the
// next is slow, too, and fast ones count for more. As a ratio it serves for other literals, too, which may leave more
// rows or fewer.
void add_time(SectionExperience& known, double ns, double estimate_ns);
// Before add_time(): the times of one kernel say little of another's, such as the one that has been compiled since:
// that one is expected to be no worse, and no worse than estimated.
void note_kernel(SectionExperience& known, const std::string& kernel);

// Whether to run on the device, given what the CPU takes meanwhile (or whatever else needs nothing first), what the
// device takes now (columns to move, a kernel to compile) and what it takes once all is in place. Moving in is bought
// when not having done so would have paid for it by now: at most twice the cost of whatever was right in hindsight, the
// bound of the ski-rental problem (Karlin, Manasse, Rudolph and Sleator 1988, on snoopy caching).
bool device_pays(double meanwhile_ns, double now_ns, double settled_ns, double& regret_ns);

// Times change, and those that were learnt may have been unusual: now and then one of the other ways to run a section
// has its turn that is not far from the chosen one; of short sections seldom one that is. times_ns: what each takes,
// infinite where that is not known. Nothing: it is nobody's turn. A turn is two decisions long, since the first run
// finds a device asleep and caches cold.
std::optional<size_t> turn_of(int64_t decision, std::span<const double> times_ns, size_t chosen);

}  // namespace diptych
