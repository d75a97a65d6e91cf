#include "engine/device/memory_pool.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace diptych {

MemoryPool::~MemoryPool() {
  for (auto [address, bytes] : blocks_) raw_.free_block({address, bytes});
}

std::optional<uint64_t> MemoryPool::try_allocate(int64_t bytes, uint64_t reservation) {
  std::lock_guard lock(mutex_);
  if (bytes < 0 || bytes > std::numeric_limits<int64_t>::max() - options_.alignment) return std::nullopt;
  bytes = rounded(bytes);
  auto address = reservation != 0 ? take_free(bytes, reservation) : std::nullopt;
  if (address)
    reserved_ -= bytes;
  else
    address = take(bytes, reservation != 0 || !options_.uses_ends ? End::First : End::Last);
  if (!address && reservation != 0) address = take_joined(bytes, reservation);
  if (address) count_used(bytes);
  return address;
}

std::optional<uint64_t> MemoryPool::try_reserve(int64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes < 0 || bytes > std::numeric_limits<int64_t>::max() - options_.alignment) return std::nullopt;
  bytes = rounded(bytes);
  const auto address = take(bytes, End::First);
  if (!address) return std::nullopt;
  Piece& piece = pieces_[*address];
  piece.used = false;
  piece.reservation = ++last_reservation_;
  add_free(*address, piece);
  reserved_ += bytes;
  reservations_[last_reservation_] = {*address, bytes};
  return last_reservation_;
}

void MemoryPool::release(uint64_t reservation) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = reservations_.find(reservation);
  if (found == reservations_.end()) return;
  const uint64_t behind = found->second.address + static_cast<uint64_t>(found->second.bytes);
  auto piece = pieces_.find(found->second.address);
  reservations_.erase(found);
  while (piece != pieces_.end() && piece->first < behind) {
    if (piece->second.used) {
      piece->second.reservation = 0;
      ++piece;
    } else {
      piece = hand_over(piece, 0);
    }
  }
  trim_to_options();
}

// Makes a free piece another reservation's, or nobody's. Returns the piece behind.
MemoryPool::Pieces::iterator MemoryPool::hand_over(Pieces::iterator piece, uint64_t to) noexcept {
  const int64_t bytes = piece->second.bytes;
  const uint64_t behind = piece->first + static_cast<uint64_t>(bytes);
  remove_free(piece->first, piece->second);
  reserved_ += (to != 0 ? bytes : 0) - (piece->second.reservation != 0 ? bytes : 0);
  piece->second.reservation = to;
  join(piece);
  return pieces_.lower_bound(behind);
}

void MemoryPool::count_used(int64_t bytes) {
  used_ += bytes;
  peak_ = std::max(peak_, used_);
  buffers_++;
}

// Of what nobody has set aside.
std::optional<uint64_t> MemoryPool::take(int64_t bytes, End end) {
  if (bytes > options_.limit - used_ - reserved_) return std::nullopt;
  const auto take_there = [&] { return end == End::First ? take_free(bytes, 0) : take_last(bytes); };
  auto address = take_there();
  if (!address && add_block(bytes)) address = take_there();
  return address;
}

std::optional<uint64_t> MemoryPool::take_last(int64_t bytes) {
  const auto last = std::find_if(pieces_.rbegin(), pieces_.rend(), [&](const auto& piece) {
    return !piece.second.used && piece.second.reservation == 0 && piece.second.bytes >= bytes;
  });
  if (last == pieces_.rend()) return std::nullopt;
  const uint64_t first = last->first;
  Piece& piece = last->second;
  remove_free(first, piece);
  if (piece.bytes == bytes) {
    piece.used = true;
    return first;
  }
  piece.bytes -= bytes;
  add_free(first, piece);
  const uint64_t address = first + static_cast<uint64_t>(piece.bytes);
  pieces_[address] = {bytes, piece.block, true};
  return address;
}

int64_t MemoryPool::rounded(int64_t bytes) const {
  const int64_t mask = options_.alignment - 1;
  return (std::max<int64_t>(bytes, 1) + mask) & ~mask;
}

std::optional<uint64_t> MemoryPool::take_free(int64_t bytes, uint64_t reservation) {
  const auto best = free_.lower_bound({reservation, bytes, 0});
  if (best == free_.end() || std::get<0>(*best) != reservation) return std::nullopt;
  const auto [owner, size, address] = *best;
  free_.erase(best);
  Piece& piece = pieces_[address];
  piece.used = true;
  if (size > bytes) {
    const uint64_t rest = address + static_cast<uint64_t>(bytes);
    add_free(rest, pieces_[rest] = {size - bytes, piece.block, false, owner});
    piece.bytes = bytes;
  }
  return address;
}

// Of free pieces side by side, of which some are the reservation's and the others nobody's: these become part of it.
std::optional<uint64_t> MemoryPool::take_joined(int64_t bytes, uint64_t reservation) {
  const auto is_ours = [&](const Piece& piece) {
    return !piece.used && (piece.reservation == 0 || piece.reservation == reservation);
  };
  const auto found = reservations_.find(reservation);
  if (found == reservations_.end()) return std::nullopt;
  RawBlock& whole = found->second;
  for (auto first = pieces_.begin(); first != pieces_.end();) {
    auto end = first;
    int64_t own = 0, others = 0;
    for (; end != pieces_.end() && is_ours(end->second) && end->second.block == first->second.block; ++end)
      (end->second.reservation != 0 ? own : others) += end->second.bytes;
    if (own == 0 || own + others < bytes || others > options_.limit - used_ - reserved_) {
      first = end == first ? std::next(first) : end;
      continue;
    }
    const uint64_t start = first->first, behind = start + static_cast<uint64_t>(own + others);
    while (first != end) first = first->second.reservation == 0 ? hand_over(first, reservation) : std::next(first);
    const uint64_t whole_behind = std::max(whole.address + static_cast<uint64_t>(whole.bytes), behind);
    whole.address = std::min(whole.address, start);
    whole.bytes = static_cast<int64_t>(whole_behind - whole.address);
    reserved_ -= bytes;
    return take_free(bytes, reservation);
  }
  return std::nullopt;
}

bool MemoryPool::add_block(int64_t bytes) {
  // Free blocks that are all too small would keep the device from holding this one. No more of them go than have to,
  // and none in vain: the driver takes long for each, and waits for kernels that run.
  if (const int64_t missing = held_ - (options_.limit - bytes); missing > 0 && !trim_by(missing)) return false;
  auto block = raw_.allocate_block(bytes, options_.limit - held_);
  if (!block && held_ > used_ + reserved_) {
    trim_to(0);
    block = raw_.allocate_block(bytes, options_.limit - held_);
  }
  if (!block) return false;
  blocks_[block->address] = block->bytes;
  add_free(block->address, pieces_[block->address] = {block->bytes, block->address});
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
  if (piece->second.reservation != 0) reserved_ += piece->second.bytes;
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
  if (piece->second.reservation != 0) reserved_ += freed;
  Piece rest = piece->second;
  rest.bytes = freed;
  rest.used = false;
  join(pieces_.emplace(address + static_cast<uint64_t>(bytes), rest).first);
  trim_to_options();
}

void MemoryPool::join(Pieces::iterator piece) noexcept {
  const auto is_joined = [&](Pieces::iterator other) {
    return !other->second.used && other->second.block == piece->second.block &&
           other->second.reservation == piece->second.reservation;
  };
  const auto next = std::next(piece);
  if (next != pieces_.end() && is_joined(next)) {
    remove_free(next->first, next->second);
    piece->second.bytes += next->second.bytes;
    pieces_.erase(next);
  }
  if (piece != pieces_.begin() && is_joined(std::prev(piece))) {
    const auto before = std::prev(piece);
    remove_free(before->first, before->second);
    before->second.bytes += piece->second.bytes;
    pieces_.erase(piece);
    piece = before;
  }
  add_free(piece->first, piece->second);
}

void MemoryPool::trim() noexcept {
  std::lock_guard lock(mutex_);
  trim_to(0);
}

void MemoryPool::trim_to_options() noexcept { trim_to(held_ > options_.limit ? 0 : options_.keep_bytes); }

void MemoryPool::trim_to(int64_t keep) noexcept {
  for (auto block = blocks_.begin(); block != blocks_.end() && held_ - used_ - reserved_ > keep;)
    block = is_free(block->first, block->second) ? free_block(block) : std::next(block);
}

bool MemoryPool::trim_by(int64_t bytes) noexcept {
  int64_t all = 0;
  for (const auto& [address, size] : blocks_)
    if (is_free(address, size)) all += size;
  if (all < bytes) return false;
  while (bytes > 0) {
    // The smallest that is enough, or else the largest.
    const auto is_better = [&](int64_t size, int64_t than) {
      return than >= bytes ? size >= bytes && size < than : size > than;
    };
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block) {
      if (!is_free(block->first, block->second)) continue;
      if (best == blocks_.end() || is_better(block->second, best->second)) best = block;
    }
    bytes -= best->second;
    free_block(best);
  }
  return true;
}

bool MemoryPool::is_free(uint64_t block, int64_t bytes) const {
  const Piece& piece = pieces_.at(block);
  return !piece.used && piece.reservation == 0 && piece.bytes == bytes;
}

std::map<uint64_t, int64_t>::iterator MemoryPool::free_block(std::map<uint64_t, int64_t>::iterator block) noexcept {
  const auto [address, bytes] = *block;
  const auto piece = pieces_.find(address);
  remove_free(address, piece->second);
  pieces_.erase(piece);
  held_ -= bytes;
  raw_.free_block({address, bytes});
  return blocks_.erase(block);
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

int64_t MemoryPool::set_aside_bytes() const {
  std::lock_guard lock(mutex_);
  return reserved_;
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
