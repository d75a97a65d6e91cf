// Columns of tablets between the file and the engines: a cache that uses what the memory budget leaves.
//
//   frame = one column of one tablet, ready for use
//
//   absent --pin--> loading --> pinned --last unpin--> on probation --pinned again, or evicted and back soon-->
//   protected
//                                                          |  ^-- when not used for long and room is needed --'
//                                                  victims: random frames on probation, then the oldest protected
//
// As in 2Q (Johnson, Shasha, VLDB 1994), a frame is protected at its second use, even if it was evicted in between. But
// a protected frame in use is not replaced by another that is used no more often: so of a table larger than memory that
// is scanned again and again, the part that fits stays, where least-recently-used would always evict what is needed
// next.
//
// Thread safety: all members may be called by many threads at once. No lock is held while the file is read.
#pragma once

#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/block_pool.h"
#include "storage/file/database_file.h"
#include "storage/stored_tablet.h"

namespace diptych {

// What a load needs beyond the tablet itself.
struct LoadContext {
  const std::string& table;                         // for messages
  size_t tablet;                                    // its index in the table, for messages
  std::span<const Dictionary* const> dictionaries;  // one per column of the table, nullptr where there is none
};

class TabletBuffer {
 public:
  TabletBuffer(MemoryBudget& budget, std::shared_ptr<DatabaseFile> file);
  ~TabletBuffer();

  MemoryBudget& budget() const { return budget_; }

  // Brings the columns into memory and keeps them there until unpin(), which every successful pin() needs once with the
  // same columns. Views of dictionary columns carry the dictionary of the context of the load, which is that of all
  // snapshots of the table. Errors: 58030, 53200, XX001 naming table, tablet, column and place in the file.
  std::vector<ColumnView> pin(const StoredTablet& tablet, std::span<const size_t> columns, const LoadContext& context);
  void unpin(const StoredTablet& tablet, std::span<const size_t> columns) noexcept;
  // Tells the file system which bytes a pin() of these columns would read.
  void prefetch(const StoredTablet& tablet, std::span<const size_t> columns);
  // Are the columns there? For deciding whether to prefetch.
  bool holds(const StoredTablet& tablet, std::span<const size_t> columns) const;
  // Drops all columns of a tablet that nobody uses any more.
  void forget(const StoredTablet& tablet) noexcept;

  // Reads the whole tablet past the cache and checks it. Errors: as pin().
  void verify(const StoredTablet& tablet, const LoadContext& context) const;

  int64_t cached_bytes() const;
  int64_t hits() const;
  int64_t misses() const;

 private:
  struct Source;
  struct Frame;
  struct Key {
    uint64_t tablet;
    size_t column;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const { return (key.tablet * 1024 + key.column) * 0x9E3779B97F4A7C15u; }
  };
  using Frames = std::unordered_map<Key, std::unique_ptr<Frame>, KeyHash>;

  // Of the frames that nobody loads, those that the caller is to load now.
  std::vector<size_t> claim_absent(const StoredTablet& tablet, std::span<const size_t> columns);
  void load(const StoredTablet& tablet, std::span<const size_t> missing, const LoadContext& context);
  void decode(const StoredTablet& tablet, size_t column, const LoadContext& context, Frame& frame);
  std::shared_ptr<Source> read(const StoredTablet& tablet, ByteRange range);
  PooledBuffer allocate(size_t bytes);
  void make_evictable(Frame& frame);
  void make_unevictable(Frame& frame);
  bool make_room_in_protected(int64_t bytes);
  bool was_here_lately(const Key& key);
  // Drops frames of at least so many bytes, if there are; their blocks go to the pool, the rest to the budget, which
  // `released` counts.
  int64_t evict(int64_t bytes, int64_t& released);
  Frame* choose_victim();
  int64_t drop(Frames::iterator entry, int64_t& released, std::vector<std::unique_ptr<Frame>>& dropped);
  // Gives so many bytes back to the budget, if it can, and says how many.
  int64_t reclaim(int64_t bytes);

  MemoryBudget& budget_;
  std::shared_ptr<DatabaseFile> file_;
  BlockPool pool_;
  mutable std::mutex mutex_;
  std::condition_variable loaded_;
  Frames frames_;
  std::vector<Frame*> probation_;  // evictable, seen once
  std::list<Frame*> protected_;    // evictable, seen again; oldest first
  int64_t protected_bytes_ = 0;
  std::unordered_map<Key, int64_t, KeyHash> evicted_;  // -> loaded_bytes_ at that moment
  int64_t cached_bytes_ = 0;                           // of all frames
  int64_t loaded_bytes_ = 0;                           // ever; the clock of the frames
  int64_t hits_ = 0, misses_ = 0;
  std::mt19937 random_;
  int64_t reclaimer_ = 0;
};

}  // namespace diptych
