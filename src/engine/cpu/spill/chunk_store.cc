#include "engine/cpu/spill/chunk_store.h"

#include "base/error.h"

namespace diptych::cpu {

ChunkStore::ChunkStore(const Memory& memory) : memory_(memory) {
  if (memory_.can_spill())
    reclaimer_ = memory_.budget()->add_reclaimer([this](int64_t bytes) { return reclaim(bytes); });
}

ChunkStore::~ChunkStore() {
  if (reclaimer_ >= 0) memory_.budget()->remove_reclaimer(reclaimer_);
}

size_t ChunkStore::open_batch() {
  std::lock_guard guard(mutex_);
  batches_.emplace_back();
  return batches_.size() - 1;
}

void ChunkStore::close_batch(size_t number, std::vector<Chunk> chunks, bool can_move) {
  std::lock_guard guard(mutex_);
  batches_[number].chunks = std::move(chunks);
  batches_[number].can_move = can_move;
}

bool ChunkStore::hold(size_t number) {
  std::lock_guard guard(mutex_);
  Batch& batch = batches_[number];
  if (!batch.places.empty()) return false;
  ++batch.holders;
  return true;
}

void ChunkStore::let_go(size_t number) noexcept {
  std::lock_guard guard(mutex_);
  --batches_[number].holders;
}

void ChunkStore::read(size_t number, const std::byte* from, std::span<std::byte> into) const {
  int64_t offset = -1;
  {
    std::lock_guard guard(mutex_);
    for (const Place& place : batches_[number].places) {
      if (from >= place.address && from + into.size() <= place.address + place.bytes)
        offset = place.offset + (from - place.address);
    }
  }
  check_invariant(offset >= 0, "what is read from a temporary file was written there");
  file_->read_at(offset, into);
}

int64_t ChunkStore::reclaim(int64_t bytes) {
  std::lock_guard guard(mutex_);
  while (first_in_memory_ < batches_.size() && !batches_[first_in_memory_].places.empty()) ++first_in_memory_;
  int64_t given = 0;
  for (size_t i = first_in_memory_; i < batches_.size() && given < bytes; ++i) {
    Batch& batch = batches_[i];
    if (batch.can_move && batch.holders == 0 && batch.places.empty()) given += move_out(batch);
  }
  return given;
}

int64_t ChunkStore::move_out(Batch& batch) {
  if (!file_) file_ = memory_.open_temp_file();
  std::vector<Place> places;
  int64_t given = 0;
  for (const Chunk& chunk : batch.chunks) {
    const std::span<const std::byte> bytes(chunk.data(), chunk.size());
    places.push_back({chunk.data(), chunk.size(), file_->append(bytes)});
    given += static_cast<int64_t>(chunk.size());
  }
  memory_.count_spilled(given);
  batch.places = std::move(places);
  batch.chunks.clear();
  return given;
}

}  // namespace diptych::cpu
