// The memory that one database may use, and who gets it: the tablet buffer gives way to running statements.
//
//   limit  |########## reserved by statements ##########|~~~~ tablet buffer (evictable) ~~~~|   free   |
//
// Statements reserve at block boundaries, never per value. When a reservation does not fit, reclaimers (the tablet
// buffer, the block pool, results that can move to a file) are asked to give bytes back; when that is not enough, and
// nobody else is being asked, 53200 out_of_memory ends the statement.
//
// Thread safety: all members may be called by many threads at once. Reclaimers run without a lock, several threads' at
// the same time; one must call neither reserve() nor remove_reclaimer().
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
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
  struct Entry {
    int64_t number = 0;
    Reclaimer reclaim;
    int running = 0;  // threads that it runs on
  };
  // Asks the reclaimers until the bytes are taken or nobody gives any more.
  bool take_with_reclaiming(int64_t bytes);
  // Asks each of them once, until so many bytes are given back; how many were.
  int64_t reclaim(int64_t bytes);
  // The first that came after the one of this number, which then counts as running; null: there is none.
  std::shared_ptr<Entry> start_after(int64_t number);
  void end(Entry& entry, int64_t given);

  std::mutex mutex_;                   // guards what follows
  std::condition_variable has_ended_;  // some reclaimer
  std::vector<std::shared_ptr<Entry>> reclaimers_;
  int64_t next_number_ = 0;
  int running_ = 0;          // reclaimers, counted once a thread
  int64_t times_given_ = 0;  // that one has given bytes back
};

// A reservation that ends with its scope and can grow. Thread safety: none of its own.
class MemoryReservation {
 public:
  // budget: null: nothing is counted. what: for the error's message, see MemoryBudget::reserve().
  MemoryReservation(MemoryBudget* budget, const char* what) : budget_(budget), what_(what) {}
  MemoryReservation(MemoryBudget& budget, const char* what) : MemoryReservation(&budget, what) {}
  MemoryReservation(MemoryReservation&& other) noexcept
      : budget_(other.budget_), what_(other.what_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryReservation& operator=(MemoryReservation&&) = delete;
  ~MemoryReservation() { clear(); }
  // Errors: 53200, and nothing has changed.
  void grow(int64_t bytes) {
    if (budget_ != nullptr) budget_->reserve(bytes, what_);
    bytes_ += bytes;
  }
  // As grow, but says false instead of throwing.
  bool try_grow(int64_t bytes) {
    if (budget_ != nullptr && !budget_->try_reserve(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  // What it is for now takes so many bytes; it never shrinks by that. Errors: 53200.
  void follow(size_t bytes) {
    const auto wanted = static_cast<int64_t>(bytes);
    if (wanted > bytes_) grow(wanted - bytes_);
  }
  void shrink(int64_t bytes) {
    if (budget_ != nullptr) budget_->release(bytes);
    bytes_ -= bytes;
  }
  void clear() { shrink(bytes_); }
  // Takes over bytes that are reserved already.
  void adopt(int64_t bytes) { bytes_ += bytes; }
  // Hands over at most so many bytes to another one of the same budget.
  void give(MemoryReservation& other, int64_t bytes) {
    bytes = std::min(bytes, bytes_);
    bytes_ -= bytes;
    other.bytes_ += bytes;
  }
  // Leaves the bytes reserved for good; whoever calls this releases them.
  int64_t keep() { return std::exchange(bytes_, 0); }
  int64_t bytes() const { return bytes_; }
  MemoryBudget* budget() const { return budget_; }
  const char* what() const { return what_; }

 private:
  MemoryBudget* budget_;
  const char* what_;
  int64_t bytes_ = 0;
};

}  // namespace diptych
