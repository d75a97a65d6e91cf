#include "engine/device/memory_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace diptych {

MemoryPool::~MemoryPool() {
  for (auto [address, bytes] : blocks_) raw_.free_block({address, bytes});
}

std::optional<uint64_t> MemoryPool::try_allocate(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes < 0 || bytes > std::numeric_limits<int64_t>::max() - options_.alignment) return std::nullopt;
  bytes = rounded(bytes);
  if (bytes > options_.limit - used_) return std::nullopt;
  auto address = take_free(bytes);
  if (!address && add_block(bytes)) address = take_free(bytes);
  if (!address) return std::nullopt;
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  buffers_++;
  return address;
}

int64_t MemoryPool::rounded(int64_t bytes) const {
  const int64_t mask = options_.alignment - 1;
  return (std::max<int64_t>(bytes, 1) + mask) & ~mask;
}

std::optional<uint64_t> MemoryPool::take_free(int64_t bytes) {
  auto best = free_.lower_bound({bytes, 0});
  if (best == free_.end()) return std::nullopt;
  auto [size, address] = *best;
  free_.erase(best);
  Piece& piece = pieces_[address];
  piece.used = true;
  if (size > bytes) {
    const uint64_t rest = address + static_cast<uint64_t>(bytes);
    pieces_[rest] = {size - bytes, piece.block, false};
    free_.emplace(size - bytes, rest);
    piece.bytes = bytes;
  }
  return address;
}

bool MemoryPool::add_block(int64_t bytes) {
  // Free blocks that are all too small would keep the device from holding this one.
  if (held_ > options_.limit - bytes) trim_to(0);
  if (held_ > options_.limit - bytes) return false;
  auto block = raw_.allocate_block(bytes, options_.limit - held_);
  if (!block && held_ > used_) {
    trim_to(0);
    block = raw_.allocate_block(bytes, options_.limit - held_);
  }
  if (!block) return false;
  blocks_[block->address] = block->bytes;
  pieces_[block->address] = {block->bytes, block->address, false};
  free_.emplace(block->bytes, block->address);
  held_ += block->bytes;
  return true;
}

void MemoryPool::free(uint64_t address) noexcept {
  std::lock_guard lock(mutex_);
  auto piece = pieces_.find(address);
  if (piece == pieces_.end() || !piece->second.used) return;
  used_ -= piece->second.bytes;
  buffers_--;
  piece->second.used = false;
  join(piece);
  trim_to_options();
}

void MemoryPool::shrink(uint64_t address, int64_t bytes) noexcept {
  std::lock_guard lock(mutex_);
  auto piece = pieces_.find(address);
  bytes = rounded(bytes);
  if (piece == pieces_.end() || !piece->second.used || piece->second.bytes <= bytes) return;
  const int64_t freed = std::exchange(piece->second.bytes, bytes) - bytes;
  used_ -= freed;
  join(pieces_.emplace(address + static_cast<uint64_t>(bytes), Piece{freed, piece->second.block, false}).first);
  trim_to_options();
}

MemoryPool::Pieces::iterator MemoryPool::join(Pieces::iterator piece) noexcept {
  auto next = std::next(piece);
  if (next != pieces_.end() && !next->second.used && next->second.block == piece->second.block) {
    free_.erase({next->second.bytes, next->first});
    piece->second.bytes += next->second.bytes;
    pieces_.erase(next);
  }
  if (piece != pieces_.begin()) {
    auto before = std::prev(piece);
    if (!before->second.used && before->second.block == piece->second.block) {
      free_.erase({before->second.bytes, before->first});
      before->second.bytes += piece->second.bytes;
      pieces_.erase(piece);
      piece = before;
    }
  }
  free_.emplace(piece->second.bytes, piece->first);
  return piece;
}

void MemoryPool::trim() noexcept {
  std::lock_guard lock(mutex_);
  trim_to(0);
}

void MemoryPool::trim_to_options() noexcept { trim_to(held_ > options_.limit ? 0 : options_.keep_bytes); }

void MemoryPool::trim_to(int64_t keep) noexcept {
  for (auto block = blocks_.begin(); block != blocks_.end() && held_ - used_ > keep;) {
    auto [address, bytes] = *block;
    auto piece = pieces_.find(address);
    if (piece->second.used || piece->second.bytes != bytes) {
      ++block;
      continue;
    }
    free_.erase({bytes, address});
    pieces_.erase(piece);
    block = blocks_.erase(block);
    held_ -= bytes;
    raw_.free_block({address, bytes});
  }
}

void MemoryPool::set_limit(int64_t bytes) {
  std::lock_guard lock(mutex_);
  options_.limit = bytes;
  trim_to_options();
}

int64_t MemoryPool::limit() const {
  std::lock_guard lock(mutex_);
  return options_.limit;
}

int64_t MemoryPool::used_bytes() const {
  std::lock_guard lock(mutex_);
  return used_;
}

int64_t MemoryPool::pooled_bytes() const {
  std::lock_guard lock(mutex_);
  return held_ - used_;
}

int64_t MemoryPool::peak_bytes() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

int64_t MemoryPool::buffers() const {
  std::lock_guard lock(mutex_);
  return buffers_;
}

}  // namespace diptych
