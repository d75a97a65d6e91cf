// Memory that a queue's work uses is freed once the queue is done with it, also when an error ends its scope. Declared
// after what it protects.
#pragma once

#include "base/error.h"
#include "engine/device/device.h"

namespace diptych::gpu {

struct WhenDone {
  Queue& queue;
  ~WhenDone() {
    try {
      queue.synchronize();
    } catch (const Error&) {
      // Another one is on its way already.
    }
  }
};

}  // namespace diptych::gpu
