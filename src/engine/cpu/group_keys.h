// From the keys of rows to group numbers 0, 1, 2, ..., two ways:
//
//   dense   few possible keys, known beforehand: the number is computed, sum of (key - low) * stride; NULL is one more
//   key hashed  open addressing over the keys' hashes; numbers in the order of first appearance
//
// One table belongs to one thread.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/key_rows.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

class DenseKeys {
 public:
  // More are hashed.
  static constexpr int64_t most_groups = 262144;
  // Whether the keys' ranges are known and small enough.
  static bool possible(const std::vector<RegisterInfo>& keys);

  explicit DenseKeys(const std::vector<RegisterInfo>& keys);
  uint32_t groups() const { return groups_; }
  void find(Frame& frame, int first, const RowMask& rows, uint32_t* numbers) const;
  // Writes key `key` of the groups in register form, clears the bit of those that are NULL and returns whether there
  // are any.
  bool emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const;

 private:
  struct Key {
    PhysicalType physical;
    int64_t low;
    uint32_t span;  // keys that are not NULL
    uint32_t stride;
    bool nullable;
  };
  bool read(uint32_t group, const Key& key, std::byte* out) const;

  std::vector<Key> keys_;
  uint32_t groups_ = 1;
};

// Key rows one after the other, with their hashes.
struct KeyRows {
  const uint64_t* rows;
  const uint64_t* hashes;
  size_t count;
};

// The keys of a block's rows, ready to be looked up.
struct KeyBlock {
  explicit KeyBlock(const KeyLayout& layout);
  void write(const KeyLayout& layout, Frame& frame, int first, const RowMask& wanted);
  KeyRows keys() const { return {rows.data(), hashes.data(), count}; }

  size_t count = 0;
  std::vector<uint64_t> rows, hashes;
  std::vector<uint16_t> row;  // which row of the block each is
};

// Groups meet partition by partition: of hashes with these upper bits. On 16 cores 100 million rows with as many groups
// take 0.7 of the time that they take with 8 bits, whose partitions fill tables beyond the second-level cache.
inline constexpr uint32_t partition_bits = 10;
inline constexpr uint32_t partition_count = 1U << partition_bits;
inline uint16_t partition_of(uint64_t hash) { return static_cast<uint16_t>(hash >> (64 - partition_bits)); }

class HashedKeys {
 public:
  HashedKeys(const std::vector<RegisterInfo>& keys, int64_t expected_groups);
  uint32_t groups() const { return groups_; }
  // The numbers of the rows' groups, added when new.
  void find(const KeyBlock& block, uint32_t* numbers);
  // The numbers of the rows whose groups are there. The others stay in the block, which they are all of then, and are
  // marked as unknown.
  void find_known(KeyBlock& block, uint32_t* numbers, RowMask& unknown) const;
  // As find(), number i for row i. own: strings of new groups are copied; else they stay where they are.
  void find_rows(const KeyRows& keys, bool own, uint32_t* numbers);
  // There are no groups any more.
  void clear();
  // Without groups: as few places as a table begins with at least, so that look-ups in vain stay in the cache.
  void shrink();
  // Writes key `key` of the groups in register form, clears the bit of those that are NULL and returns whether there
  // are any.
  bool emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const;
  KeyRows all() const { return {rows_.data(), hashes_.data(), groups_}; }
  const KeyLayout& layout() const { return layout_; }
  size_t bytes() const;
  // Of the groups' strings.
  size_t text_bytes() const { return arena_.bytes(); }

 private:
  struct Entry {
    uint32_t tag;    // upper half of the hash; of a narrow key the key itself
    uint32_t group;  // number + 1; 0: empty
  };
  // How a row is looked up: by its hash and the key row of the group that has the same...
  template <typename Equal>
  struct ByHash {
    static constexpr bool reads_rows = true;
    Equal equal;
    static uint32_t tag(const uint64_t*, uint64_t hash) { return static_cast<uint32_t>(hash >> 32); }
  };
  // ...or by a narrow key, which its entry holds.
  struct ByKey {
    static constexpr bool reads_rows = false;
    static bool equal(const uint64_t*, const uint64_t*) { return true; }
    static uint32_t tag(const uint64_t* row, uint64_t) { return static_cast<uint32_t>(row[0]); }
  };
  static constexpr uint32_t no_group = UINT32_MAX;
  static constexpr int64_t least_places = 1024;
  // However many groups are expected: it grows when they come, and estimates may be far too high.
  static constexpr int64_t most_first_places = 8192;
  const uint64_t* row(uint32_t group) const { return rows_.data() + group * layout_.words(); }
  // Calls action(way of looking up).
  template <typename Action>
  void with_way(Action&& action) const;
  template <typename Way>
  uint32_t find_one(const uint64_t* row, uint64_t hash, const Way& way) const;
  template <typename Way>
  uint32_t find_or_add(const uint64_t* row, uint64_t hash, bool own, const Way& way);
  uint32_t add(const uint64_t* row, uint64_t hash, uint32_t tag, bool own);
  template <typename Way>
  void prefetch(const KeyRows& keys, size_t at, const Way& way) const;
  void grow();

  KeyLayout layout_;
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::vector<uint64_t> rows_, hashes_;
  uint32_t groups_ = 0;
  TextArena arena_;
};

}  // namespace diptych::cpu
