// The memory of one run: large buffers out of the block pool, accounted in the budget; and temporary files for what
// does not fit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/block_pool.h"
#include "base/error.h"
#include "base/memory_budget.h"
#include "base/temp_space.h"
#include "tablet/aligned_buffer.h"

namespace diptych {

// Owns one buffer that starts on a multiple of 64 and is not initialised.
class Chunk {
 public:
  Chunk() = default;
  Chunk(Chunk&& other) noexcept { *this = std::move(other); }
  Chunk& operator=(Chunk&& other) noexcept {
    release();
    pooled_ = std::move(other.pooled_);
    own_ = std::move(other.own_);
    budget_ = std::exchange(other.budget_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~Chunk() { release(); }

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  friend class Memory;
  void release() {
    if (budget_ != nullptr) budget_->release(static_cast<int64_t>(size_));
    budget_ = nullptr;
  }

  PooledBuffer pooled_;
  AlignedBuffer own_;               // without a pool
  MemoryBudget* budget_ = nullptr;  // reserved in for own_
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

// Does it. False: it ended with 53200; what it leaves then is its own matter. Errors: all its others.
template <typename Action>
bool has_memory_for(Action&& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    return false;
  }
}

// Thread safety: any number of threads may allocate at once.
class Memory {
 public:
  // Any of them may be missing. shares: holders of memory, of all threads, that hold it at the same time.
  explicit Memory(BlockPool* pool = nullptr, MemoryBudget* budget = nullptr, TempSpace* temp = nullptr,
                  int64_t shares = 1)
      : pool_(pool),
        budget_(budget),
        temp_(temp),
        shares_(std::max<int64_t>(1, shares)),
        spilled_(std::make_shared<std::atomic<int64_t>>(0)) {}

  // Errors: 53200; `what` names the user.
  Chunk allocate(size_t bytes, const char* what) const {
    Chunk chunk;
    if (pool_ != nullptr) {
      chunk.pooled_ = pool_->allocate(bytes, what);
      chunk.data_ = chunk.pooled_.data();
    } else {
      if (budget_ != nullptr) budget_->reserve(static_cast<int64_t>(bytes), what);
      chunk.budget_ = budget_;
      chunk.size_ = bytes;
      chunk.own_ = AlignedBuffer(bytes);
      chunk.data_ = chunk.own_.data();
    }
    chunk.size_ = bytes;
    return chunk;
  }
  // Whether so many bytes more could be had now: they are free, or others give them back.
  bool has_room(int64_t bytes) const {
    if (budget_ == nullptr) return true;
    if (!budget_->try_reserve(bytes)) return false;
    budget_->release(bytes);
    return true;
  }
  // Null when memory is not limited.
  MemoryBudget* budget() const { return budget_; }

  // May what does not fit go to a temporary file?
  bool can_spill() const { return budget_ != nullptr && temp_ != nullptr; }
  // What one of the run's holders may hold on a thread when all of them together may hold the `part`th part of the
  // limit.
  size_t thread_share(int64_t part) const {
    return can_spill() ? static_cast<size_t>(budget_->limit() / part / shares_) : SIZE_MAX;
  }
  // Only when can_spill(). Errors: 53100, 58030, 58P01.
  std::unique_ptr<TempFile> open_temp_file() const { return temp_->open(); }
  void count_spilled(int64_t bytes) const { *spilled_ += bytes; }
  // Bytes that this run, in all copies of this object, has written to temporary files.
  int64_t spilled_bytes() const { return *spilled_; }

 private:
  BlockPool* pool_;
  MemoryBudget* budget_;
  TempSpace* temp_;
  int64_t shares_;
  std::shared_ptr<std::atomic<int64_t>> spilled_;
};

}  // namespace diptych
