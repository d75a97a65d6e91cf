// Makes an index of its rows. All threads work at most steps:
//
//   keys      of each row to where it is looked for: a bit, or a hash
//   firsts    of each row the number of its key: its rank, or the first row with it: a thread takes the keys of some
//             parts, of all rows in their order (rows_by_owner.h)
//   places    where rows share keys: those of a key one behind the other
//   payload   to these places
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "engine/cpu/join/row_blocks.h"
#include "engine/cpu/join/row_index.h"
#include "engine/cpu/join/rows_by_owner.h"

namespace diptych::cpu {

class RowIndexBuilder {
 public:
  // columns: of the index's row set. All arguments outlive it.
  RowIndexBuilder(RowIndex& index, const std::vector<RegisterInfo>& columns, const Memory& memory,
                  const ExecutionContext& context);
  // Errors: 53200, 54000, 57014, and those of reading the rows.
  void run();

  // Most that an index with this payload takes while it is made in the form "table", without strings.
  static size_t table_bytes(const std::vector<RegisterInfo>& keys, const PackedRows& payload, size_t rows);

 private:
  using Block = RowBlocks::Block;
  using Bounds = RowIndex::Bounds;
  size_t rows() const { return static_cast<size_t>(row_count_); }
  bool fits(size_t bytes) const { return bytes <= static_cast<size_t>(index_.rows_.most_bytes); }

  // ---- keys that have bits
  bool find_bounds();
  bool has_bits();
  bool has_bits_alone();
  // others: bytes that the index takes besides.
  void open_bits(const Bounds& bounds, uint64_t span, size_t others);
  void set_bits();
  void merge_bits();
  // ---- keys that have hashes
  void find_hashed_firsts();
  // owners: by part of the table.
  void write_keys(KeyTable& table, const Block& block, const std::vector<uint16_t>& owners, RowsByOwner& rows);
  void add_bounds(const Block& block, const RowMask& mask);
  // ---- places
  void place_rows(size_t keys);
  void fill_payload();
  void fill_positions();

  // Calls visit(row of the block, key) for all rows that have their one, whole key.
  template <typename Visit>
  void for_each_whole_key(const Block& block, Visit&& visit) const;
  template <typename Visit>
  void for_each_whole(const Block& block, size_t key, const RowMask& mask, Visit&& visit) const;
  // Calls visit(begin, end) of row numbers on all threads.
  template <typename Visit>
  void for_each_range(const Visit& visit);
  // Threads that share so many parts.
  size_t sharers(size_t parts) const { return std::clamp<size_t>(static_cast<size_t>(context_.threads), 1, parts); }
  // Calls visit(number of a thread, first part, end) on each of these, all parts among them.
  template <typename Visit>
  void share_parts(size_t parts, const Visit& visit);
  template <typename Visit>
  void for_each_first(const Visit& visit);

  RowIndex& index_;
  const Memory& memory_;
  const ExecutionContext& context_;
  RowBlocks blocks_;
  const int64_t row_count_;
  size_t places_ = 0;
  IndexArray<uint32_t> firsts_;         // by row: the number of its key; later its place; empty: its number
  std::atomic<bool> has_equal_{false};  // two rows were seen to share their key
  std::mutex mutex_;                    // guards what threads of a pass put together
};

}  // namespace diptych::cpu
