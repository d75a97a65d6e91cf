// Whether a device still works. Some errors end what a driver keeps for a process for good (an illegal address in a
// kernel, a GPU that is gone): the device is lost then. What was in its memory is gone, nothing is asked of its driver
// any more, and only another process can use it again.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "base/error.h"

namespace diptych {

class DeviceHealth {
 public:
  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  // "lost: " and the first error that ended it; empty while it works.
  std::string why_lost() const {
    std::lock_guard guard(mutex_);
    return why_;
  }
  void lose(const std::string& error) {
    std::lock_guard guard(mutex_);
    if (why_.empty()) why_ = "lost: " + error + "; a new process may use it again";
    is_lost_.store(true, std::memory_order_release);
  }
  // Errors: 58000 once it is lost.
  void check() const {
    if (is_lost()) throw Error(SqlState::system_error, why_lost());
  }

 private:
  std::atomic<bool> is_lost_{false};
  mutable std::mutex mutex_;  // guards why_
  std::string why_;
};

}  // namespace diptych
