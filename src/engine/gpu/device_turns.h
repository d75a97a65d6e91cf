// Who runs sections on a device: many at once, as long as there is memory for all of them; or one alone that found too
// little beside others. Whoever waits to be alone is let in before those that come later. Nobody who waits has anything
// on the device.
//
//   together   A------   B----------   |            D waits for C------
//   alone                              C------------|
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace diptych::gpu {

class DeviceTurns {
 public:
  enum class Kind : uint8_t { Together, Alone };

  // From when a section is let in until it ends.
  class Turn {
   public:
    // cancelled: looked at while it waits; null: waits as long as it takes. Errors: 57014.
    Turn(DeviceTurns& turns, Kind kind, const std::atomic<bool>* cancelled);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    // Whether others were let in beside it, at any time so far.
    bool had_company() const;

   private:
    DeviceTurns& turns_;
    int64_t entered_ = 0;  // with this one
    bool found_others_ = false;
  };

 private:
  bool may_enter(Kind kind) const;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  int inside_ = 0, waiting_alone_ = 0;
  bool is_one_alone_ = false;
  int64_t entered_ = 0;  // so far
};

}  // namespace diptych::gpu
