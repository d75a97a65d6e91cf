// What one thread of a load measures, and another one collects.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline int64_t microseconds(Clock::duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// Since somebody last looked.
struct Measured {
  std::vector<int64_t> commits_us, waits_us;  // of each commit: from its start, from the moment it was due
  std::vector<int64_t> scans_us;
  int64_t skipped = 0;     // commits that were due, but not tried: their thread was a second behind
  int64_t longest_us = 0;  // statement; one that still runs counts, too
  std::string longest;

  void note_statement(const std::string& name, Clock::duration duration) {
    if (microseconds(duration) <= longest_us) return;
    longest_us = microseconds(duration);
    longest = name;
  }
};

// Thread safety: take() may be called by another thread at any time.
class Meter {
 public:
  // Runs a statement and returns what it does.
  template <typename Statement>
  auto time(const char* name, const Statement& statement) {
    {
      const std::lock_guard guard(mutex_);
      running_ = name;
      began_ = Clock::now();
    }
    struct End {
      Meter& meter;
      ~End() { meter.end_statement(); }
    } const end{*this};
    return statement();
  }

  template <typename Change>
  void note(const Change& change) {
    const std::lock_guard guard(mutex_);
    change(measured_);
  }

  Measured take() {
    const std::lock_guard guard(mutex_);
    if (running_ != nullptr) measured_.note_statement(running_, Clock::now() - began_);
    return std::exchange(measured_, {});
  }

 private:
  void end_statement() {
    const std::lock_guard guard(mutex_);
    measured_.note_statement(running_, Clock::now() - began_);
    running_ = nullptr;
  }

  std::mutex mutex_;  // guards what follows
  Measured measured_;
  const char* running_ = nullptr;  // null: no statement
  Clock::time_point began_;
};

}  // namespace bench
