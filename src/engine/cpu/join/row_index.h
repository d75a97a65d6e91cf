// A built index: the rows of a row set by their keys, those with equal keys one behind the other.
//
//   firsts     |0|3|3|3|4|      key 0 has places 0, 1 and 2, key 3 has place 3. Without it every key has one row
//   payload    |place 0|place 1|place 2|place 3|     what sections fetch of the rows (packed_rows.h)
//
// Where there is one key, whole, of few possible values, a bit for each of these says whether it is there, so that keys
// in vain touch no more than those (key_bits.h). A key then leads to its rank among all keys, or, where the rows have
// keys of their own and these are not far apart, rows stand by key, with gaps. Other keys are found by their hash
// (key_table.h), and lead to the first row with them. Rows with a NULL among their keys are left out.
//
// Where one row of a key will do (IndexInfo::finds_one), the others are not kept; nothing is fetched of it, so that
// bits, where there are such, are all.
//
// Built by the threads of the statement (row_index_builder.h); then any number may read it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/cpu/join/index_rows.h"
#include "engine/cpu/join/key_bits.h"
#include "engine/cpu/join/key_table.h"
#include "engine/cpu/join/packed_rows.h"
#include "engine/run/built_keys.h"
#include "engine/run/context.h"

namespace diptych::cpu {

class RowIndex final : public BuiltKeys {
 public:
  struct Range {
    int64_t first = 0, count = 0;
  };
  // A thread's, for blocks that are looked up.
  struct LookUp {
    std::optional<KeyBlock> keys;
    bool filters = true;  // see KeyTable::find()
  };

  // Index `number` of the program. rows: of its row set. What is passed by reference outlives it. Errors: 53200, 54000,
  // 57014, and those of reading the rows.
  RowIndex(const Program& program, size_t number, IndexRows rows, const Memory& memory,
           const ExecutionContext& context);
  // Most that an index of so many rows takes while it is made in the form "table", without strings.
  static size_t table_bytes(const Program& program, size_t number, size_t rows, bool has_positions);

  // found: by row, the key's number for rows_of(), which is the row's place where is_unique(), of the keys that are the
  // frame's registers from first_key on; rows without one leave the mask.
  void find(Frame& frame, int first_key, RowMask& rows, LookUp& look_up, int64_t* found) const;
  // The places of the rows with a key that was found.
  Range rows_of(int64_t found) const {
    if (is_unique()) return {found, 1};
    const auto at = static_cast<size_t>(found);
    return {firsts_[at], int64_t{firsts_[at + 1]} - firsts_[at]};
  }
  // Rows of the row set that it is of; those with a NULL key count.
  int64_t row_count() const { return rows_.count(); }
  // Whether no two rows have the same key.
  bool is_unique() const { return firsts_.empty(); }
  const PackedRows& payload() const { return payload_; }
  // That it takes, without strings.
  size_t bytes() const {
    return firsts_.bytes() + bits_.bytes() + payload_.bytes() + (table_ ? table_->held_bytes() : 0);
  }
  bool is_empty() const override { return is_empty_; }
  bool has_any(size_t key, int128_t low, int128_t high) const override;
  // Of the look-up: "places", "ranks", "bitmap", "table", or "rows" without keys.
  const char* form() const {
    if (keys_.empty() || !bits_.is_open()) return keys_.empty() ? "rows" : "table";
    return finds_one_ ? "bitmap" : bits_.finds_ranks() ? "ranks" : "places";
  }

 private:
  friend class RowIndexBuilder;
  // find() of a key that has bits, by the codes of its column, which need not be decoded then; false: it has none.
  bool find_codes(const Frame& frame, int key, RowMask& rows, int64_t* found) const;
  struct Bounds {
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool is_known = false;
  };

  std::vector<RegisterInfo> keys_;
  const bool finds_one_;
  std::vector<Bounds> bounds_;  // by key
  bool is_empty_ = true;        // no row has all keys
  std::optional<KeyTable> table_;
  KeyBits bits_;                 // not open: table_
  IndexArray<uint32_t> firsts_;  // places, by number of a key, and of the end; empty: see is_unique()
  PackedRows payload_;
  std::vector<std::unique_ptr<PinnedTablet>> pinned_;  // that strings are in
  IndexRows rows_;
};

}  // namespace diptych::cpu
