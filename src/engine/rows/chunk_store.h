// Memory of finished tablets that gives way to temporary files when memory is short.
//
//   writer   open_batch() ..chunks filled.. close_batch()
//   batch    open  --->  in memory  --budget under pressure, nobody holds it--->  in a file, read range by range
//
// A batch is the chunks of some tablets, moved as a whole. What is in a file keeps its former addresses as names: a
// reader asks for the bytes that were at an address, so that the tablets' views need no other form. (The store is a
// reclaimer of the budget: results make room for whoever needs memory, also long after they were made.)
//
// Thread safety: all members may be called by many threads at once. No lock is held while a batch is written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/temp_space.h"
#include "engine/rows/memory.h"

namespace diptych {

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

  // False when the batch is in a file; else keeps it in memory until let_go().
  bool hold(size_t batch);
  void let_go(size_t batch) noexcept;
  // Of a batch in a file: reads what was in memory at `from`. Errors: 58030.
  void read(size_t batch, const std::byte* from, std::span<std::byte> into) const;

  // Moves all batches that can be moved and that nobody holds, where there may be files. Who needs memory meanwhile
  // does not wait for it. Errors: 53100, 58030.
  void move_all();

  const Memory& memory() const { return memory_; }

 private:
  // Where a chunk of a batch in a file was and is.
  struct Place {
    const std::byte* address;
    size_t bytes;
    int64_t offset;
  };
  struct Batch {
    std::vector<Chunk> chunks;  // empty: in a file, or nothing was ever here
    std::vector<Place> places;  // not empty: written
    int holders = 0;
    bool can_move = false;
    bool is_moving = false;  // a thread writes it
    size_t file = 0;         // of files_
  };
  // Operating systems let one thread at a time write to a file: so many write at once.
  static constexpr size_t file_count = 8;

  // Writes batches to files until `bytes` are given back or none is left. Errors: 53100, 58030.
  int64_t reclaim(int64_t bytes);
  // One that can be written, which then is the caller's to move; null: there is none.
  Batch* start_moving();
  // How many bytes that gives back: none where somebody has come to hold it meanwhile; then it need not be written
  // again.
  int64_t move_out(Batch& batch);
  std::vector<Place> write(const Batch& batch);
  TempFile& file(size_t number);

  const Memory memory_;
  mutable std::mutex mutex_;  // guards what follows
  std::deque<Batch> batches_;
  size_t first_in_memory_ = 0;  // all batches before are in files
  std::array<std::unique_ptr<TempFile>, file_count> files_;
  int64_t reclaimer_ = -1;  // -1: nothing is ever moved
};

}  // namespace diptych
