// Memory that is dear to allocate (a driver takes a millisecond, and may wait for running kernels), handed out and
// taken back in microseconds: freed pieces stay for the next buffer.
//
//   block from the driver    |  in use  | free |   in use   |      free      |
//   block from the driver    |                    free                       |   <- trim() gives this one back
//
// The limit is one of blocks: free pieces between used ones count, since the device has no other use of them.
//
// Pieces can be set aside: a reservation's are handed out to those who name it, until it ends.
//
// What belongs to no reservation may stay for long (columns of statements to come). It is taken from the end of the
// last piece that has room, so that what is set aside at the other end finds its memory in one piece.
//
// Best fit over the free pieces of all blocks (Knuth, The Art of Computer Programming, volume 1, section 2.5), which
// are split when taken and joined with free neighbours when returned. Addresses are numbers; what they mean is the
// driver's business. Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace diptych {

struct RawBlock {
  uint64_t address = 0;
  int64_t bytes = 0;
};

// Where a pool gets its blocks.
class RawMemory {
 public:
  virtual ~RawMemory() = default;
  // A block of at least so many bytes, on a multiple of the pool's alignment; nullopt where there is no room. Where its
  // size is a choice it has `at_most` bytes.
  virtual std::optional<RawBlock> allocate_block(int64_t at_least, int64_t at_most) = 0;
  virtual void free_block(RawBlock block) noexcept = 0;
};

class MemoryPool {
 public:
  struct Options {
    int64_t alignment = 256;
    int64_t limit = std::numeric_limits<int64_t>::max();       // of bytes in blocks
    int64_t keep_bytes = std::numeric_limits<int64_t>::max();  // free bytes beyond this are given back
    bool uses_ends = true;                                     // for what belongs to no reservation
  };

  MemoryPool(RawMemory& raw, Options options) : raw_(raw), options_(options) {}
  // Whatever is still in use goes back to the driver with its block.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  // nullopt when the limit, or the device, has no room after trimming. No bytes take up room for one. reservation:
  // whose memory is taken first; 0: none.
  std::optional<uint64_t> try_allocate(int64_t bytes, uint64_t reservation = 0);
  // Sets so many bytes aside, in one piece; nullopt as above.
  std::optional<uint64_t> try_reserve(int64_t bytes);
  // What is free of the reservation is anybody's then; what is in use stays so.
  void release(uint64_t reservation) noexcept;
  // An address from try_allocate.
  void free(uint64_t address) noexcept;
  // Frees all but the first so many bytes of what was allocated there.
  void shrink(uint64_t address, int64_t bytes) noexcept;
  // Gives blocks that are wholly free back.
  void trim() noexcept;

  void set_limit(int64_t bytes);
  int64_t limit() const;
  int64_t used_bytes() const;
  int64_t pooled_bytes() const;  // free or set aside, in blocks that are held
  int64_t set_aside_bytes() const;
  int64_t peak_bytes() const;  // of used
  int64_t buffers() const;     // in use

 private:
  struct Piece {
    int64_t bytes = 0;
    uint64_t block = 0;  // address of the block that it is part of
    bool used = false;
    uint64_t reservation = 0;  // that it belongs to; 0: none
  };
  using Pieces = std::map<uint64_t, Piece>;  // by address; together they cover all blocks

  // What a buffer of so many bytes takes.
  int64_t rounded(int64_t bytes) const;
  std::optional<uint64_t> take_free(int64_t bytes, uint64_t reservation);
  enum class End : uint8_t { First, Last };
  std::optional<uint64_t> take(int64_t bytes, End end);
  std::optional<uint64_t> take_last(int64_t bytes);
  std::optional<uint64_t> take_joined(int64_t bytes, uint64_t reservation);
  void count_used(int64_t bytes);
  void add_free(uint64_t address, const Piece& piece) { free_.emplace(piece.reservation, piece.bytes, address); }
  void remove_free(uint64_t address, const Piece& piece) { free_.erase({piece.reservation, piece.bytes, address}); }
  bool add_block(int64_t bytes);
  // Gives free blocks back of at least so many bytes together, few of them; or none, where there are not as many.
  bool trim_by(int64_t bytes) noexcept;
  bool is_free(uint64_t block, int64_t bytes) const;
  std::map<uint64_t, int64_t>::iterator free_block(std::map<uint64_t, int64_t>::iterator block) noexcept;
  // Gives free blocks back until no more than so many bytes are free.
  void trim_to(int64_t keep) noexcept;
  void trim_to_options() noexcept;
  Pieces::iterator hand_over(Pieces::iterator piece, uint64_t to) noexcept;
  // The free piece, which is not in free_, is joined with its free neighbours of the same reservation.
  void join(Pieces::iterator piece) noexcept;

  RawMemory& raw_;
  mutable std::mutex mutex_;  // guards all below
  Options options_;
  Pieces pieces_;
  std::set<std::tuple<uint64_t, int64_t, uint64_t>> free_;  // reservation, size and address of free pieces
  std::map<uint64_t, int64_t> blocks_;                      // address and size
  int64_t held_ = 0, used_ = 0, peak_ = 0, buffers_ = 0;
  int64_t reserved_ = 0;                       // free, of reservations
  std::map<uint64_t, RawBlock> reservations_;  // by number: where they are
  uint64_t last_reservation_ = 0;
};

}  // namespace diptych
