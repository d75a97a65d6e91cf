// Where a section's time goes: every moment of its thread belongs to one part, the innermost that has been entered.
//
//   | prepare | choose | load |copy| load | launch | wait | fetch | wait | release |
//
// so that the parts add up to the whole. Thread safety: a clock is one thread's.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>

namespace diptych {

enum class TimePart : uint8_t {
  Prepare,  // constants, zone maps: which tablets are needed
  Choose,   // the engine; a device opened and measured where it was not yet
  Turn,     // waiting for the memory that it can't do without on the device
  Load,     // columns brought to where the device reads them
  Compile,  // kernels: their text, and finding or compiling them
  Launch,   // memory for what they write, and handing them to the driver
  Copy,     // calls of the driver that copy: all of the copy, where the memory is not pinned
  Wait,     // for the device
  Fetch,    // making rows and groups of what the device has copied
  Merge,    // what several batches have made put together
  Rows,     // the CPU's threads run the section over rows
  Release   // memory given back
};
inline constexpr size_t time_part_count = 12;
inline constexpr std::array<const char*, time_part_count> time_part_names = {
    "prepare", "choose", "turn", "load", "compile", "launch", "copy", "wait", "fetch", "merge", "rows", "release"};

inline int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
}

// Nanoseconds of each part.
struct PartTimes {
  std::array<int64_t, time_part_count> nanoseconds{};

  int64_t& operator[](TimePart part) { return nanoseconds[static_cast<size_t>(part)]; }
  int64_t operator[](TimePart part) const { return nanoseconds[static_cast<size_t>(part)]; }
  int64_t sum() const { return std::accumulate(nanoseconds.begin(), nanoseconds.end(), int64_t{0}); }
  void add(const PartTimes& other) {
    for (size_t i = 0; i < time_part_count; ++i) nanoseconds[i] += other.nanoseconds[i];
  }
};

class PartClock {
 public:
  explicit PartClock(TimePart part) : part_(part) {}
  // What follows is of this part; returns that of before.
  TimePart enter(TimePart part) {
    const auto now = std::chrono::steady_clock::now();
    times_[part_] += std::chrono::duration_cast<std::chrono::nanoseconds>(now - since_).count();
    since_ = now;
    const TimePart before = part_;
    part_ = part;
    return before;
  }
  // Until now.
  const PartTimes& times() {
    enter(part_);
    return times_;
  }

 private:
  TimePart part_;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  PartTimes times_;
};

// The time until its end is of the part, but what is entered within it. clock: null where nobody wants to know.
class PartScope {
 public:
  PartScope(PartClock* clock, TimePart part) : clock_(clock) {
    if (clock_ != nullptr) before_ = clock_->enter(part);
  }
  ~PartScope() {
    if (clock_ != nullptr) clock_->enter(before_);
  }
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  PartClock* clock_;
  TimePart before_{};
};

}  // namespace diptych
