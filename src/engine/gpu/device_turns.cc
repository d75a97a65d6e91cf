#include "engine/gpu/device_turns.h"

#include <chrono>

#include "base/error.h"

namespace diptych::gpu {

bool DeviceTurns::may_enter(Kind kind) const {
  if (is_one_alone_) return false;
  return kind == Kind::Alone ? inside_ == 0 : waiting_alone_ == 0;
}

DeviceTurns::Turn::Turn(DeviceTurns& turns, Kind kind, const std::atomic<bool>* cancelled) : turns_(turns) {
  constexpr auto look_again = std::chrono::milliseconds(10);
  const bool is_alone = kind == Kind::Alone;
  std::unique_lock guard(turns.mutex_);
  turns.waiting_alone_ += is_alone ? 1 : 0;
  while (!turns.may_enter(kind)) {
    turns.changed_.wait_for(guard, look_again);
    if (cancelled == nullptr || !cancelled->load(std::memory_order_relaxed)) continue;
    turns.waiting_alone_ -= is_alone ? 1 : 0;
    turns.changed_.notify_all();
    throw Error(SqlState::query_canceled, "cancelled on request");
  }
  turns.waiting_alone_ -= is_alone ? 1 : 0;
  turns.is_one_alone_ = is_alone;
  found_others_ = turns.inside_ > 0;
  ++turns.inside_;
  entered_ = ++turns.entered_;
}

DeviceTurns::Turn::~Turn() {
  std::lock_guard guard(turns_.mutex_);
  --turns_.inside_;
  turns_.is_one_alone_ = false;
  turns_.changed_.notify_all();
}

bool DeviceTurns::Turn::had_company() const {
  std::lock_guard guard(turns_.mutex_);
  return found_others_ || turns_.entered_ != entered_;
}

}  // namespace diptych::gpu
