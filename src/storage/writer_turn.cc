#include "storage/writer_turn.h"

#include <algorithm>
#include <thread>

#include "storage/store_state.h"

namespace diptych {
namespace {

// A thread that is next looks for its turn for so long before it sleeps: twice as long as a commit of a row takes.
constexpr std::chrono::microseconds awake{100};

}  // namespace

void WriterTurn::begin(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout) {
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock guard(mutex_);
  if (!is_taken_) {
    is_taken_ = true;
    return;
  }
  Waiter waiter;
  waiters_.push_back(&waiter);
  rouse_next();
  try {
    while (!wait_awhile(waiter, guard)) {
      check_cancelled(cancelled);
      check_lock_timeout(start, timeout);
    }
  } catch (...) {
    std::erase(waiters_, &waiter);
    if (waiter.has_turn)
      pass_on();
    else
      rouse_next();
    throw;
  }
  rouse_next();
}

bool WriterTurn::wait_awhile(Waiter& waiter, std::unique_lock<std::mutex>& guard) {
  if (waiter.is_next) {
    guard.unlock();
    const auto end = std::chrono::steady_clock::now() + awake;
    while (!waiter.has_turn.load(std::memory_order_acquire) && std::chrono::steady_clock::now() < end)
      std::this_thread::yield();
    guard.lock();
  }
  const auto is_roused = [&waiter, was_next = waiter.is_next] { return waiter.has_turn || waiter.is_next != was_next; };
  waiter.woken.wait_for(guard, cancel_check_interval, is_roused);
  return waiter.has_turn;
}

void WriterTurn::rouse_next() {
  if (waiters_.empty() || waiters_.front()->is_next) return;
  waiters_.front()->is_next = true;
  waiters_.front()->woken.notify_one();
}

void WriterTurn::pass_on() {
  if (waiters_.empty()) {
    is_taken_ = false;
    return;
  }
  Waiter& next = *waiters_.front();
  waiters_.pop_front();
  next.has_turn.store(true, std::memory_order_release);
  next.woken.notify_one();
}

void WriterTurn::end() noexcept {
  const std::lock_guard guard(mutex_);
  pass_on();
}

}  // namespace diptych
