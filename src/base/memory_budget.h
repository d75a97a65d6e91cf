// The memory that one database may use, and who gets it: the tablet buffer gives way to running statements.
//
//   limit  |########## reserved by statements ##########|~~~~ tablet buffer (evictable) ~~~~|   free   |
//
// Statements reserve at block boundaries, never per value. When a reservation does not fit, reclaimers (the tablet
// buffer, the block pool) are asked to give bytes back; when that is not enough, 53200 out_of_memory ends the
// statement. Thread safety: all members may be called by many threads at once; a reclaimer must not call reserve().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace diptych {

class MemoryBudget {
 public:
  // Gives back at least `bytes` if it can and returns how many it gave back; it calls release() itself.
  using Reclaimer = std::function<int64_t(int64_t bytes)>;

  explicit MemoryBudget(int64_t limit_bytes) : limit_(limit_bytes) {}
  int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  int64_t used() const { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  // Errors: 53200. `what` names the user for the message ("hash table", "sort").
  void reserve(int64_t bytes, const char* what);
  // As reserve, but says false instead of throwing.
  bool try_reserve(int64_t bytes);
  // As try_reserve, but takes only what is free already: no reclaimer is asked.
  bool try_reserve_free(int64_t bytes);
  void release(int64_t bytes);
  // Reclaimers are asked in the order in which they came. The number names it for remove_reclaimer(), which waits until
  // it runs nowhere.
  int64_t add_reclaimer(Reclaimer reclaimer);
  void remove_reclaimer(int64_t number);

 private:
  std::atomic<int64_t> limit_;
  std::atomic<int64_t> used_{0};
  std::atomic<int64_t> peak_{0};
  // Asks the reclaimers until the bytes are taken or nobody gives any more.
  bool take_with_reclaiming(int64_t bytes);

  std::mutex mutex_;  // guards reclaimers_, held while they run
  std::vector<std::pair<int64_t, Reclaimer>> reclaimers_;
  int64_t next_number_ = 0;
};

// A reservation that ends with its scope and can grow.
class MemoryReservation {
 public:
  MemoryReservation(MemoryBudget& budget, const char* what) : budget_(&budget), what_(what) {}
  MemoryReservation(MemoryReservation&& other) noexcept
      : budget_(other.budget_), what_(other.what_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&&) = delete;
  ~MemoryReservation() { budget_->release(bytes_); }
  void grow(int64_t bytes) {
    budget_->reserve(bytes, what_);
    bytes_ += bytes;
  }
  void shrink(int64_t bytes) {
    budget_->release(bytes);
    bytes_ -= bytes;
  }
  // Takes over bytes that are reserved already.
  void adopt(int64_t bytes) { bytes_ += bytes; }
  // Leaves the bytes reserved for good; whoever calls this releases them.
  int64_t keep() { return std::exchange(bytes_, 0); }
  int64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_;
  const char* what_;
  int64_t bytes_ = 0;
};

}  // namespace diptych
