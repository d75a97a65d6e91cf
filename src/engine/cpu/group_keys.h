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
#include "engine/cpu/memory.h"

namespace diptych::cpu {

class DenseKeys {
 public:
  // Larger tables are hashed: below, a table of sums stays in the second-level cache.
  static constexpr int64_t most_groups = 65536;
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

class HashedKeys {
 public:
  HashedKeys(const std::vector<RegisterInfo>& keys, int64_t expected_groups);
  uint32_t groups() const { return groups_; }
  // The numbers of the rows' groups, added when new.
  void find(Frame& frame, int first, const RowMask& rows, uint32_t* numbers);
  // Gives every row a group of its own, whether there is one like it or not: for rows of which few are alike.
  void append(Frame& frame, int first, const RowMask& rows, uint32_t* numbers);
  // As find(), for key rows with their hashes. own: strings of new groups are copied; else they stay where they are.
  void find_rows(const uint64_t* rows, const uint64_t* hashes, size_t count, bool own, uint32_t* numbers);
  // There are no groups any more.
  void clear();
  // Writes key `key` of the groups in register form, clears the bit of those that are NULL and returns whether there
  // are any.
  bool emit(size_t key, std::span<const uint32_t> groups, std::byte* out, uint64_t* valid) const;
  const uint64_t* row(uint32_t group) const { return rows_.data() + group * layout_.words(); }
  uint64_t hash(uint32_t group) const { return hashes_[group]; }
  const KeyLayout& layout() const { return layout_; }
  size_t bytes() const;
  // Of the groups' strings.
  size_t text_bytes() const { return arena_.bytes(); }

 private:
  struct Entry {
    uint32_t tag;    // upper half of the hash
    uint32_t group;  // number + 1; 0: empty
  };
  uint32_t find_or_add(const uint64_t* row, uint64_t hash);
  void prefetch(const uint64_t* hashes, size_t count, size_t at) const;
  size_t write_block(Frame& frame, int first, const RowMask& rows);
  void check_room(size_t more) const;
  void grow();

  KeyLayout layout_;
  std::vector<Entry> entries_;  // a power of two, at most half full
  std::vector<uint64_t> rows_, hashes_;
  std::vector<uint64_t> block_, block_hash_;  // key rows of the block at hand, their hashes...
  std::vector<uint16_t> block_row_;           // ...and which rows they are
  uint32_t groups_ = 0;
  TextArena arena_;
};

}  // namespace diptych::cpu
