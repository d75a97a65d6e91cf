// Adds the time until its end to a count of nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace diptych {

class ScopedTimer {
 public:
  // The count lives longer.
  explicit ScopedTimer(int64_t& nanoseconds) : nanoseconds_(nanoseconds) {}
  ~ScopedTimer() { nanoseconds_ += (std::chrono::steady_clock::now() - start_).count(); }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  int64_t& nanoseconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace diptych
