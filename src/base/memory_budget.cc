#include "base/memory_budget.h"

#include <algorithm>
#include <string>

#include "base/error.h"

namespace diptych {
namespace {

// Reclaiming takes locks and unmaps memory; a batch at a time keeps that off the path of most reservations.
constexpr int64_t least_reclaim_bytes = int64_t{1} << 20;

}  // namespace

void MemoryBudget::reserve(int64_t bytes, const char* what) {
  if (try_reserve(bytes)) return;
  auto mebibytes = [](int64_t count) { return std::to_string((count + (1 << 19)) >> 20) + " MiB"; };
  throw Error(SqlState::out_of_memory,
              std::string("out of memory: ") + what + " needs " + std::to_string(bytes) + " bytes more, and " +
                  mebibytes(used()) + " of " + mebibytes(limit()) + " are in use",
              -1, "raise memory_limit");
}

bool MemoryBudget::try_reserve(int64_t bytes) { return try_reserve_free(bytes) || take_with_reclaiming(bytes); }

void MemoryBudget::release(int64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

int64_t MemoryBudget::add_reclaimer(Reclaimer reclaimer) {
  std::lock_guard guard(mutex_);
  reclaimers_.push_back(std::make_shared<Entry>(Entry{next_number_, std::move(reclaimer)}));
  return next_number_++;
}

void MemoryBudget::remove_reclaimer(int64_t number) {
  std::unique_lock lock(mutex_);
  const auto found =
      std::find_if(reclaimers_.begin(), reclaimers_.end(), [&](const auto& entry) { return entry->number == number; });
  if (found == reclaimers_.end()) return;
  const std::shared_ptr<Entry> entry = *found;
  reclaimers_.erase(found);
  has_ended_.wait(lock, [&] { return entry->running == 0; });
}

bool MemoryBudget::try_reserve_free(int64_t bytes) {
  int64_t before = used_.load(std::memory_order_relaxed);
  do {
    if (bytes > 0 && before + bytes > limit()) return false;
  } while (!used_.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (peak < before + bytes && !peak_.compare_exchange_weak(peak, before + bytes, std::memory_order_relaxed)) {
  }
  return true;
}

bool MemoryBudget::take_with_reclaiming(int64_t bytes) {
  for (;;) {
    int64_t times_given = 0;
    {
      std::lock_guard guard(mutex_);
      times_given = times_given_;
    }
    if (try_reserve_free(bytes)) return true;
    if (bytes > limit()) return false;
    const int64_t wanted = std::max(used() + bytes - limit(), std::min(least_reclaim_bytes, limit() / 8));
    if (reclaim(wanted) > 0) continue;
    // What others are being given may be enough for both; and what they could not have may be free by then.
    std::unique_lock lock(mutex_);
    if (times_given_ == times_given && running_ == 0) return try_reserve_free(bytes);
    has_ended_.wait(lock, [&] { return times_given_ != times_given || running_ == 0; });
  }
}

int64_t MemoryBudget::reclaim(int64_t bytes) {
  int64_t given = 0, last = -1;
  while (given < bytes) {
    const std::shared_ptr<Entry> entry = start_after(last);
    if (!entry) break;
    last = entry->number;
    int64_t more = 0;
    try {
      more = entry->reclaim(bytes - given);
    } catch (...) {
      end(*entry, 0);
      throw;
    }
    end(*entry, more);
    given += more;
  }
  return given;
}

std::shared_ptr<MemoryBudget::Entry> MemoryBudget::start_after(int64_t number) {
  std::lock_guard guard(mutex_);
  for (const auto& entry : reclaimers_) {
    if (entry->number <= number) continue;
    ++entry->running;
    ++running_;
    return entry;
  }
  return nullptr;
}

void MemoryBudget::end(Entry& entry, int64_t given) {
  {
    std::lock_guard guard(mutex_);
    --entry.running;
    --running_;
    times_given_ += given > 0 ? 1 : 0;
  }
  has_ended_.notify_all();
}

}  // namespace diptych
