#include "base/block_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace diptych {
namespace {

constexpr size_t huge_page_bytes = size_t{2} << 20;

// Blocks that may be kept are mapped: the allocator could hold on to what it is given back. Those of at least a huge
// page can be huge pages.
std::byte* acquire(size_t bytes) {
  if (bytes < BlockPool::smallest_kept) {
    void* memory = std::aligned_alloc(64, bytes);
    if (!memory) throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  if (bytes >= huge_page_bytes) ::madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

void dispose(std::byte* data, size_t bytes) {
  if (bytes < BlockPool::smallest_kept) {
    std::free(data);
  } else {
    ::munmap(data, bytes);
  }
}

}  // namespace

PooledBuffer::~PooledBuffer() {
  if (data_) pool_->give_back(data_, size_);
}

BlockPool::BlockPool(MemoryBudget& budget) : budget_(budget) {
  reclaimer_ = budget_.add_reclaimer([this](int64_t bytes) { return trim(bytes); });
}

BlockPool::~BlockPool() {
  budget_.remove_reclaimer(reclaimer_);
  trim(kept_bytes_);
}

size_t BlockPool::block_bytes(size_t bytes) {
  if (bytes < smallest_kept) return (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
  if (bytes > largest_kept) return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
  size_t step = std::bit_floor(bytes) / 4;
  return (bytes + step - 1) / step * step;
}

size_t BlockPool::class_of(size_t block_bytes) {
  size_t power = std::bit_floor(block_bytes);
  size_t exponent = static_cast<size_t>(std::countr_zero(power / smallest_kept));
  return exponent * 4 + (block_bytes - power) / (power / 4);
}

std::byte* BlockPool::take_kept(size_t block) {
  if (block < smallest_kept || block > largest_kept) return nullptr;
  std::lock_guard guard(mutex_);
  auto& kept = kept_[class_of(block)];
  if (kept.empty()) return nullptr;
  std::byte* data = kept.back();
  kept.pop_back();
  kept_bytes_ -= static_cast<int64_t>(block);
  return data;
}

PooledBuffer BlockPool::allocate(size_t bytes, const char* what) {
  if (auto buffer = try_allocate(bytes)) return std::move(*buffer);
  size_t block = block_bytes(bytes);
  MemoryReservation reservation(budget_, what);
  reservation.grow(static_cast<int64_t>(block));
  std::byte* data = acquire(block);
  reservation.keep();
  return {this, data, bytes};
}

std::optional<PooledBuffer> BlockPool::try_allocate(size_t bytes) {
  size_t block = block_bytes(bytes);
  if (std::byte* data = take_kept(block)) return PooledBuffer(this, data, bytes);
  if (!budget_.try_reserve_free(static_cast<int64_t>(block))) return std::nullopt;
  MemoryReservation reservation(budget_, "block");
  reservation.adopt(static_cast<int64_t>(block));
  std::byte* data = acquire(block);
  reservation.keep();
  return PooledBuffer(this, data, bytes);
}

void BlockPool::give_back(std::byte* data, size_t bytes) noexcept {
  size_t block = block_bytes(bytes);
  if (block >= smallest_kept && block <= largest_kept) {
    std::lock_guard guard(mutex_);
    kept_[class_of(block)].push_back(data);
    kept_bytes_ += static_cast<int64_t>(block);
    return;
  }
  dispose(data, block);
  budget_.release(static_cast<int64_t>(block));
}

int64_t BlockPool::trim(int64_t bytes) {
  int64_t given = 0;
  std::lock_guard guard(mutex_);
  // Large blocks first: fewest system calls.
  for (size_t index = class_count; index-- > 0 && given < bytes;) {
    size_t exponent = index / 4;
    size_t block = (smallest_kept << exponent) / 4 * (4 + index % 4);
    while (!kept_[index].empty() && given < bytes) {
      dispose(kept_[index].back(), block);
      kept_[index].pop_back();
      given += static_cast<int64_t>(block);
    }
  }
  kept_bytes_ -= given;
  budget_.release(given);
  return given;
}

int64_t BlockPool::kept_bytes() const {
  std::lock_guard guard(mutex_);
  return kept_bytes_;
}

}  // namespace diptych
