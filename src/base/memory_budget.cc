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
  reclaimers_.emplace_back(next_number_, std::move(reclaimer));
  return next_number_++;
}

void MemoryBudget::remove_reclaimer(int64_t number) {
  std::lock_guard guard(mutex_);
  std::erase_if(reclaimers_, [&](const auto& entry) { return entry.first == number; });
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
  std::lock_guard guard(mutex_);
  for (;;) {
    if (try_reserve_free(bytes)) return true;
    if (bytes > limit()) return false;
    int64_t wanted = std::max(used() + bytes - limit(), std::min(least_reclaim_bytes, limit() / 8));
    int64_t given = 0;
    for (const auto& [number, reclaimer] : reclaimers_) {
      if (given < wanted) given += reclaimer(wanted - given);
    }
    if (given == 0) return try_reserve_free(bytes);
  }
}

}  // namespace diptych
