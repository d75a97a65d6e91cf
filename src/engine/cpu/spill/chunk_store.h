// Memory of finished tablets that gives way to a temporary file when memory is short.
//
//   writer   open_batch() ..chunks filled.. close_batch()
//   batch    open  --->  in memory  --budget under pressure, nobody holds it--->  in the file, read range by range
//
// A batch is the chunks of some tablets, moved as a whole. What is in the file keeps its former addresses as names: a
// reader asks for the bytes that were at an address, so that the tablets' views need no other form. (The store is a
// reclaimer of the budget: results make room for whoever needs memory, also long after they were made.)
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/temp_space.h"
#include "engine/cpu/memory.h"

namespace diptych::cpu {

class ChunkStore {
 public:
  explicit ChunkStore(const Memory& memory);
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;
  ~ChunkStore();

  // The number of a batch whose chunks are still with who fills them.
  size_t open_batch();
  // Takes the chunks. can_move: they hold no addresses, and from now on are only looked at between hold() and let_go().
  void close_batch(size_t batch, std::vector<Chunk> chunks, bool can_move);

  // False when the batch is in the file; else keeps it in memory until let_go().
  bool hold(size_t batch);
  void let_go(size_t batch) noexcept;
  // Of a batch in the file: reads what was in memory at `from`. Errors: 58030.
  void read(size_t batch, const std::byte* from, std::span<std::byte> into) const;

  const Memory& memory() const { return memory_; }

 private:
  // Where a chunk of a batch in the file was and is.
  struct Place {
    const std::byte* address;
    size_t bytes;
    int64_t offset;
  };
  struct Batch {
    std::vector<Chunk> chunks;
    std::vector<Place> places;  // not empty: in the file
    int holders = 0;
    bool can_move = false;
  };
  // Writes batches to the file until `bytes` are given back or none is left. Errors: 53100, 58030.
  int64_t reclaim(int64_t bytes);
  int64_t move_out(Batch& batch);

  const Memory memory_;
  mutable std::mutex mutex_;  // guards what follows; held while a batch is written
  std::deque<Batch> batches_;
  size_t first_in_memory_ = 0;  // all batches before are in the file
  std::unique_ptr<TempFile> file_;
  int64_t reclaimer_ = -1;  // -1: nothing is ever moved
};

}  // namespace diptych::cpu
