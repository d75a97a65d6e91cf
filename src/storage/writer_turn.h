// A turn, to write or to compact, which one has at a time, in the order in which they come.
//
//   writes          has the turn                       a commit of a row takes as long as it takes to wake a thread, so
//   is next         awake: looks for it again and      that the next one is woken when the one before it begins, not
//                   again, sleeps after a while        when it ends
//   third, fourth   asleep
//
// Thread safety: all members may be called by many threads at once; end() by whoever has the turn.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace diptych {

class WriterTurn {
 public:
  // Returns with the turn. cancelled may be null; a timeout of 0 is none. Errors: 55P03, 57014.
  void begin(const std::atomic<bool>* cancelled, std::chrono::milliseconds timeout);
  void end() noexcept;

 private:
  struct Waiter {
    std::atomic<bool> has_turn{false};
    bool is_next = false;  // guarded by the mutex, as all but has_turn
    std::condition_variable woken;
  };
  // Whether it has the turn before it is to be looked at whether it should give up.
  bool wait_awhile(Waiter& waiter, std::unique_lock<std::mutex>& guard);
  // With the mutex.
  void rouse_next();
  void pass_on();

  std::mutex mutex_;
  bool is_taken_ = false;
  std::list<Waiter*> waiters_;  // in the order in which they came; who has got the turn is none of them
};

}  // namespace diptych
