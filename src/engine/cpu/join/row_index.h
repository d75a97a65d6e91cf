// A built index: the rows of a row set by their keys, those with equal keys one behind the other.
//
//   firsts     |0|3|3|3|4|      row 0 and two others have its key: places 0, 1 and 2; row 3 has place 3. Without it
//   every
//                               row has a key of its own, and its number as place
//   columns    |place 0|place 1|place 2|place 3|     values in register form
//
// Where there is one key, whole, of few possible values, a bit for each of these says whether it is there, so that keys
// in vain touch no more than those. What the key itself then leads to is the first row with it, in a dense array; or,
// where the rows have keys of their own and these are not far apart, their places: column values stand by key, with
// gaps. Other keys are found by their hash (key_table.h). Rows with a NULL among their keys are left out.
//
// Where one row of a key will do (IndexInfo::finds_one), no others are kept, and no columns: the bits may be all there
// is.
//
// Built by the threads of the statement; then any number may read it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/cpu/join/index_rows.h"
#include "engine/cpu/join/key_table.h"
#include "engine/run/built_keys.h"
#include "engine/run/context.h"

namespace diptych::cpu {

class RowIndex final : public BuiltKeys {
 public:
  struct Range {
    int64_t first = 0, count = 0;
  };
  struct Column {
    PhysicalType physical = PhysicalType::Int32;
    Chunk values;
    Chunk valid;  // bits; no bytes: no NULL
  };
  // A thread's, for blocks that are looked up.
  struct LookUp {
    std::optional<KeyBlock> keys;
    bool filters = true;        // see KeyTable::find()
    uint32_t rows[block_rows];  // the first one with the key
  };

  // rows: of the index's row set. What is passed by reference outlives it. Errors: 53200, 54000, 57014, and those of
  // reading the rows.
  RowIndex(const Program& program, const IndexInfo& info, IndexRows rows, const Memory& memory,
           const ExecutionContext& context);
  // Most that an index of so many rows takes while it is made in the form "table", without strings.
  static size_t table_bytes(const Program& program, const IndexInfo& info, size_t rows, bool has_positions);

  // The first rows with the keys that are the frame's registers from first_key on; rows without one leave the mask.
  void find(Frame& frame, int first_key, RowMask& rows, LookUp& found) const;
  // The places of the rows with the key of this first one.
  Range rows_of(uint32_t first) const {
    if (is_unique()) return {first, 1};
    return {firsts_[first], int64_t{firsts_[first + 1]} - firsts_[first]};
  }
  // Rows of the row set that it is of; those with a NULL key count.
  int64_t row_count() const { return rows_.count(); }
  // Whether no two rows have the same key.
  bool is_unique() const { return firsts_.empty(); }
  const Column& column(size_t number) const { return columns_[number]; }
  // That it takes, without strings.
  size_t bytes() const {
    size_t bytes = static_cast<size_t>(array_bytes()) + (table_ ? table_->held_bytes() : 0);
    for (const Column& column : columns_) bytes += column.values.size() + column.valid.size();
    return bytes;
  }
  bool is_empty() const override { return is_empty_; }
  bool has_any(size_t key, int128_t low, int128_t high) const override;
  // Of the look-up: "places", "dense", "bitmap", "table", or "rows" without keys.
  const char* form() const {
    if (keys_.empty() || bits_.empty()) return keys_.empty() ? "rows" : "table";
    return finds_one_ ? "bitmap" : dense_.empty() ? "places" : "dense";
  }

 private:
  class Builder;
  static size_t table_bytes(const std::vector<RegisterInfo>& columns, const std::vector<RegisterInfo>& keys,
                            size_t rows, bool has_positions);
  // Of what is no chunk.
  int64_t array_bytes() const {
    return static_cast<int64_t>((dense_.size() + firsts_.size()) * sizeof(uint32_t) + bits_.size() * sizeof(uint64_t));
  }
  uint64_t place_of(int64_t key) const { return static_cast<uint64_t>(key) - static_cast<uint64_t>(low_); }
  template <typename T>
  void find_dense(const Slot& slot, int words, RowMask& rows, uint32_t* firsts) const;

  struct Bounds {
    int64_t low = INT64_MAX, high = INT64_MIN;
    bool is_known = false;
  };
  bool has_bit(uint64_t first, uint64_t last) const;

  std::vector<RegisterInfo> keys_;
  const bool finds_one_;
  std::vector<Bounds> bounds_;  // by key
  bool is_empty_ = true;        // no row has all keys
  std::optional<KeyTable> table_;
  std::vector<uint32_t> dense_;  // by key - low_: first row with it + 1, 0: none; empty: see form()
  std::vector<uint64_t> bits_;   // by key - low_: whether there is one; empty: table_
  int64_t low_ = 0;
  uint64_t span_ = 0;             // of the keys from low_ on
  std::vector<uint32_t> firsts_;  // places, by row, and of the end; empty: see is_unique()
  std::vector<Column> columns_;
  int64_t places_ = 0;
  std::vector<std::unique_ptr<PinnedTablet>> pinned_;  // that strings are in
  IndexRows rows_;
  MemoryReservation reservation_;
};

}  // namespace diptych::cpu
