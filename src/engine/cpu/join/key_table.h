// The keys of an index's rows in a hash table that all threads fill at once.
//
//   slots   |0|row 7|0|row 2| |row 5|0|0|row 1| |...        parts, each filled by one thread; a slot names the first
//   row words   |key of row 0|key of row 1|key of row 2|...     with its key
//
// A hash's upper bits are its slot, so that they are its part, too; a part is never left while a free slot is looked
// for. The lower 32 bits, or a narrow key itself, stand in the slot beside the row; of a whole number of 64 bits all of
// the hash, which no other number has, so that its key need not be read. A filter has bits for each hash: most keys
// that are not there touch nothing else.
#pragma once

#include <algorithm>
#include <vector>

#include "engine/cpu/group_keys.h"

namespace diptych::cpu {

class KeyTable {
 public:
  static constexpr uint32_t no_row = UINT32_MAX;

  // For so many rows, fewer than 2^32 - 1. Errors: 53200.
  KeyTable(const std::vector<RegisterInfo>& keys, int64_t rows, const Memory& memory);
  // That it takes for so many rows.
  static size_t bytes(const std::vector<RegisterInfo>& keys, int64_t rows);

  const KeyLayout& layout() const { return layout_; }
  size_t held_bytes() const { return words_.size() + slots_.size() + filter_.size(); }
  // The key of a row.
  void put(int64_t row, const uint64_t* key) {
    if (!is_wide_) std::copy_n(key, layout_.words(), words() + static_cast<size_t>(row) * layout_.words());
  }
  size_t part_of(uint64_t hash) const { return hash >> (64 - part_bits_); }
  size_t parts() const { return size_t{1} << part_bits_; }
  // Makes these parts ready for rows.
  void clear_parts(size_t begin, size_t end);
  // Writes to firsts which row came first with the key of each of these rows, but for rows that did themselves, and
  // returns whether all did. One thread a part; rows of a part in their order.
  bool add(const uint32_t* rows, const uint64_t* hashes, size_t count, uint32_t* firsts);

  // Whether the key is one whole number, so that find_whole() finds it.
  bool is_whole() const { return layout_.is_whole(); }
  // By row: the first one with its key; rows without one leave the mask. block: for hashes. filters: as below.
  void find_whole(const Slot& key, int words, KeyBlock& block, RowMask& rows, int64_t* found, bool& filters) const;
  // By row of the block: the first row with its key, or -1. filters: whether the filter is asked first; it is set
  // anew by what has been found.
  void find(const KeyBlock& block, int64_t* rows, bool& filters) const;

 private:
  struct Entry {
    uint32_t tag;
    uint32_t row;  // + 1; 0: free
  };
  struct WideEntry {
    uint64_t hash;
    uint64_t row;  // as above
  };

  uint64_t* words() { return reinterpret_cast<uint64_t*>(words_.data()); }
  const uint64_t* key_of(uint32_t row) const {
    return reinterpret_cast<const uint64_t*>(words_.data()) + size_t{row} * layout_.words();
  }
  Entry* slots() { return reinterpret_cast<Entry*>(slots_.data()); }
  const Entry* slots() const { return reinterpret_cast<const Entry*>(slots_.data()); }
  WideEntry* wide_slots() const { return reinterpret_cast<WideEntry*>(slots_.data()); }
  const std::byte* slot_at(uint64_t hash) const { return slots_.data() + slot_of(hash) * slot_bytes(is_wide_); }
  static size_t slot_bytes(bool is_wide) { return is_wide ? sizeof(WideEntry) : sizeof(Entry); }
  uint32_t tag_of(const uint64_t* key, uint64_t hash) const {
    return static_cast<uint32_t>(layout_.is_narrow() ? key[0] : hash);
  }
  FilterFrame filter() const { return {reinterpret_cast<const uint64_t*>(filter_.data()), filter_shift_}; }
  bool may_have(uint64_t hash) const {
    const uint64_t bits = filter_bits_of(hash);
    return (filter().words[hash >> filter_shift_] & bits) == bits;
  }
  size_t slot_of(uint64_t hash) const { return hash >> (64 - slot_bits_); }
  // The next one of the same part.
  size_t next(size_t slot) const { return (slot & ~part_mask_) | ((slot + 1) & part_mask_); }
  // The slot that has the key, or the free one that is to have it.
  template <typename Equal>
  size_t look_up(const uint64_t* key, uint64_t hash, const Equal& equal) const;
  size_t look_up_wide(uint64_t hash) const {
    for (size_t at = slot_of(hash);; at = next(at))
      if (const WideEntry& slot = wide_slots()[at]; slot.row == 0 || slot.hash == hash) return at;
  }
  // add() of one row; returns the first one with its key.
  template <typename Equal>
  uint32_t add_row(uint32_t row, uint64_t hash, const Equal& equal);
  // find_whole() of what the filter has left. find_one(row of the block, hash): the first row + 1, or 0.
  template <typename FindOne>
  size_t find_asked(const KeyBlock& block, const FindOne& find_one, RowMask& rows, int64_t* found) const;

  KeyLayout layout_;
  const bool is_wide_;  // slots are WideEntry; there are no words
  int slot_bits_ = 0, part_bits_ = 0, filter_shift_ = 0;
  size_t part_mask_ = 0;
  Chunk words_, slots_, filter_;
};

}  // namespace diptych::cpu
