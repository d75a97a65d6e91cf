#include "engine/rows/chunk_store.h"

#include <utility>

#include "base/error.h"

namespace diptych {

ChunkStore::ChunkStore(const Memory& memory) : memory_(memory) {
  if (memory_.can_spill())
    reclaimer_ = memory_.budget()->add_reclaimer([this](int64_t bytes) { return reclaim(bytes); });
}

ChunkStore::~ChunkStore() {
  if (reclaimer_ >= 0) memory_.budget()->remove_reclaimer(reclaimer_);
}

size_t ChunkStore::open_batch() {
  std::lock_guard guard(mutex_);
  const size_t number = batches_.size();
  batches_.emplace_back().file = number % file_count;
  return number;
}

void ChunkStore::close_batch(size_t number, std::vector<Chunk> chunks, bool can_move) {
  std::lock_guard guard(mutex_);
  batches_[number].chunks = std::move(chunks);
  batches_[number].can_move = can_move;
}

bool ChunkStore::hold(size_t number) {
  std::lock_guard guard(mutex_);
  Batch& batch = batches_[number];
  if (batch.chunks.empty() && !batch.places.empty()) return false;
  ++batch.holders;
  return true;
}

void ChunkStore::let_go(size_t number) noexcept {
  std::lock_guard guard(mutex_);
  --batches_[number].holders;
}

void ChunkStore::read(size_t number, const std::byte* from, std::span<std::byte> into) const {
  int64_t offset = -1;
  const TempFile* file = nullptr;
  {
    std::lock_guard guard(mutex_);
    const Batch& batch = batches_[number];
    file = files_[batch.file].get();
    for (const Place& place : batch.places) {
      if (from >= place.address && from + into.size() <= place.address + place.bytes)
        offset = place.offset + (from - place.address);
    }
  }
  check_invariant(offset >= 0, "what is read from a temporary file was written there");
  file->read_at(offset, into);
}

void ChunkStore::move_all() {
  if (memory_.can_spill()) reclaim(INT64_MAX);
}

int64_t ChunkStore::reclaim(int64_t bytes) {
  int64_t given = 0;
  while (given < bytes) {
    Batch* batch = start_moving();
    if (batch == nullptr) break;
    given += move_out(*batch);
  }
  return given;
}

ChunkStore::Batch* ChunkStore::start_moving() {
  std::lock_guard guard(mutex_);
  const auto is_in_file = [](const Batch& batch) { return batch.chunks.empty() && !batch.places.empty(); };
  while (first_in_memory_ < batches_.size() && is_in_file(batches_[first_in_memory_])) ++first_in_memory_;
  for (size_t i = first_in_memory_; i < batches_.size(); ++i) {
    Batch& batch = batches_[i];
    if (!batch.can_move || batch.chunks.empty() || batch.is_moving || batch.holders > 0) continue;
    batch.is_moving = true;
    return &batch;
  }
  return nullptr;
}

int64_t ChunkStore::move_out(Batch& batch) {
  std::vector<Place> places;
  {
    std::lock_guard guard(mutex_);
    places = std::move(batch.places);
  }
  try {
    if (places.empty()) places = write(batch);
  } catch (...) {
    std::lock_guard guard(mutex_);
    batch.is_moving = false;
    throw;
  }
  int64_t given = 0;
  std::vector<Chunk> chunks;  // which end without the lock
  {
    std::lock_guard guard(mutex_);
    batch.is_moving = false;
    batch.places = std::move(places);
    if (batch.holders > 0) return 0;
    for (const Place& place : batch.places) given += static_cast<int64_t>(place.bytes);
    chunks = std::exchange(batch.chunks, {});
  }
  return given;
}

std::vector<ChunkStore::Place> ChunkStore::write(const Batch& batch) {
  TempFile& to = file(batch.file);
  std::vector<Place> places;
  for (const Chunk& chunk : batch.chunks) {
    const std::span<const std::byte> bytes(chunk.data(), chunk.size());
    places.push_back({chunk.data(), chunk.size(), to.append(bytes)});
    memory_.count_spilled(static_cast<int64_t>(chunk.size()));
  }
  return places;
}

TempFile& ChunkStore::file(size_t number) {
  std::unique_ptr<TempFile>& file = files_[number];
  {
    std::lock_guard guard(mutex_);
    if (file) return *file;
  }
  std::unique_ptr<TempFile> made = memory_.open_temp_file();
  std::lock_guard guard(mutex_);
  if (!file) file = std::move(made);
  return *file;
}

}  // namespace diptych
