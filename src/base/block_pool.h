// Large blocks of memory that are used again instead of being given back to the operating system.
//
//   allocate ---> in use ---(PooledBuffer ends)---> kept, still mapped ---> the next allocate of the class
//                                                        '---- budget under pressure ----> unmapped
//
// Fresh memory costs about 0.25 ms a MiB in page faults, several times what a scan of it costs; so results and evicted
// columns leave their blocks to the next statement. Sizes are rounded up to four classes per power of two (at most 25 %
// waste), from 64 KiB to 64 MiB; smaller and larger blocks are not kept. What is in use and what is kept both count in
// the budget.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/memory_budget.h"

namespace diptych {

class BlockPool;

// Owns one block; not initialised, starts on a multiple of 64. Ends before its pool does.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  PooledBuffer(PooledBuffer&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  PooledBuffer& operator=(PooledBuffer&& other) noexcept {
    PooledBuffer old(std::move(*this));
    pool_ = std::exchange(other.pool_, nullptr);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~PooledBuffer();

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  // As asked for; the block may be larger.
  size_t size() const { return size_; }

 private:
  friend class BlockPool;
  PooledBuffer(BlockPool* pool, std::byte* data, size_t size) : pool_(pool), data_(data), size_(size) {}

  BlockPool* pool_ = nullptr;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

class BlockPool {
 public:
  static constexpr size_t smallest_kept = size_t{64} << 10;
  static constexpr size_t largest_kept = size_t{64} << 20;

  explicit BlockPool(MemoryBudget& budget);
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  // Errors: 53200; `what` names the user in the message.
  PooledBuffer allocate(size_t bytes, const char* what);
  // As allocate, but only out of kept blocks and free budget; nothing when neither has one.
  std::optional<PooledBuffer> try_allocate(size_t bytes);
  // Unmaps kept blocks until at least `bytes` are given back or none is left; says how many.
  int64_t trim(int64_t bytes);
  // Bytes of the blocks kept for later.
  int64_t kept_bytes() const;
  // Bytes that a block of this size takes.
  static size_t block_bytes(size_t bytes);

 private:
  friend class PooledBuffer;
  // Four classes for each power of two from 64 KiB to 64 MiB.
  static constexpr size_t class_count = 4 * 10 + 1;

  static size_t class_of(size_t block_bytes);
  std::byte* take_kept(size_t block);
  void give_back(std::byte* data, size_t bytes) noexcept;

  MemoryBudget& budget_;
  mutable std::mutex mutex_;
  std::array<std::vector<std::byte*>, class_count> kept_;
  int64_t kept_bytes_ = 0;
  int64_t reclaimer_ = 0;
};

}  // namespace diptych
