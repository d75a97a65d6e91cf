// Data on its way to a device: other queues than the one that brings it wait for it there, and the host does not.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "engine/device/device.h"

namespace diptych::gpu {

// Thread safety: all members may be called by many threads at once, each with a queue of its own.
class Arrival {
 public:
  // Of what the queue was given so far.
  explicit Arrival(Queue& queue) : queue_(queue.number()), event_(queue.record()) {}

  // What the queue is given from now on finds it there.
  void wait_in(Queue& queue) const {
    if (is_over_ || queue.number() == queue_) return;
    if (queue.has_happened(*event_))
      is_over_ = true;
    else
      queue.wait_for(*event_);
  }
  // False, too, where nobody has asked.
  bool is_over() const { return is_over_; }

 private:
  const uint64_t queue_;  // which does its work in order
  const std::unique_ptr<DeviceEvent> event_;
  mutable std::atomic<bool> is_over_{false};
};

}  // namespace diptych::gpu
