#include "engine/cpu/join/row_index.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "engine/cpu/join/block_column.h"
#include "engine/cpu/row_function.h"
#include "engine/run/parallel.h"

namespace diptych::cpu {

namespace {

constexpr uint32_t no_row = KeyTable::no_row;
// A dense array has at most so many places a row, or so many in all: then its bits fit the first-level cache.
constexpr int64_t places_a_row = 8, small_places = 262144, most_places = int64_t{1} << 31;
// Bits alone take no more memory with so many times as many.
constexpr int64_t bits_a_place = 8;
// Values stand by key where so many of them are there, for whatever gaps there are takes memory in every column.
constexpr int64_t gaps_a_row = 2, small_gaps = 16384;

bool is_whole(const RegisterInfo& key) {
  return key.physical == PhysicalType::Int32 || key.physical == PhysicalType::Int64;
}

bool is_whole_key(const std::vector<RegisterInfo>& keys) { return keys.size() == 1 && is_whole(keys[0]); }

std::vector<RegisterInfo> keys_of(const Program& program, const IndexInfo& info) {
  const std::vector<RegisterInfo>& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  std::vector<RegisterInfo> keys(columns.begin(), columns.begin() + info.keys);
  for (RegisterInfo& key : keys) key.nullable = false;  // rows with NULL are left out
  return keys;
}

}  // namespace

// All threads work at every step:
//
//   keys      of each row to where it is looked for: a place of the dense array, or a hash
//   firsts    of each row the first one with its key: a thread takes the keys of some parts, of all rows in their order
//   places    where rows share keys: those of a key one behind the other
//   columns   to these places
class RowIndex::Builder {
 public:
  Builder(RowIndex& index, const std::vector<RegisterInfo>& columns, const Memory& memory,
          const ExecutionContext& context)
      : index_(index),
        columns_(columns),
        memory_(memory),
        context_(context),
        source_(*index.rows_.source),
        slices_(index.rows_.slices) {
    for (const TabletSlice& slice : slices_) {
      first_rows_.push_back(row_count_);
      row_count_ += slice.rows;
    }
  }

  void run() {
    if (row_count_ >= int64_t{no_row})
      throw Error(SqlState::program_limit_exceeded, "more than 4 billion rows on the smaller side of a join");
    index_.places_ = row_count_;
    index_.bounds_.resize(index_.keys_.size());
    index_.is_empty_ = !index_.keys_.empty() || rows() == 0;
    const bool has_bounds = is_whole_key(index_.keys_) && find_bounds();
    if (index_.finds_one_) return find_ones();
    if (!has_bounds || (!has_places_by_key() && !has_unique_places())) {
      if (!fits(dense_bytes())) index_.span_ = 0;
      if (!fits(index_.span_ > 0 ? dense_bytes() : table_bytes())) throw no_room();
      index_.reservation_.follow((index_.span_ + rows()) * sizeof(uint32_t));
      firsts_.assign(rows(), index_.keys_.empty() ? 0 : no_row);
      if (!index_.keys_.empty()) find_firsts();
      place_rows();
    }
    if (!index_.dense_.empty()) set_bits();
    if (index_.table_) index_.table_->finish();
    index_.columns_.resize(columns_.size());
    for (size_t i = 0; i < columns_.size(); ++i) fill_column(i);
    if (index_.rows_.has_positions) fill_positions();
    const int64_t spare = index_.reservation_.bytes() - index_.array_bytes();
    if (spare > 0) index_.reservation_.shrink(spare);
  }

 private:
  struct Block {
    std::span<const KeyColumn> columns;  // in the order in which they were asked for
    int64_t first_row;                   // of those that the index is made of
    int rows;
  };
  size_t rows() const { return static_cast<size_t>(row_count_); }

  // ---- bytes of the forms, while they are made

  bool fits(size_t bytes) const { return bytes <= static_cast<size_t>(index_.rows_.most_bytes); }
  static Error no_room() {
    return Error(SqlState::out_of_memory, "an index of a join has no room in its part of memory_limit");
  }
  // So many values of each column.
  size_t column_bytes(uint64_t values) const {
    size_t width = index_.rows_.has_positions ? sizeof(int64_t) : 0;
    for (const RegisterInfo& column : columns_) width += static_cast<size_t>(width_bytes(column.physical));
    return values * width;
  }
  size_t dense_bytes() const {
    return (index_.span_ + 2 * rows()) * sizeof(uint32_t) + index_.span_ / 8 + column_bytes(rows());
  }
  size_t table_bytes() const {
    return RowIndex::table_bytes(columns_, index_.keys_, rows(), index_.rows_.has_positions);
  }

  // Calls visit(block) for all blocks of the tablets, with `count` columns read from the first one on, on all threads.
  template <typename Visit>
  void for_each_block(size_t first_column, size_t count, const Visit& visit) {
    std::atomic<size_t> next{0};
    const auto work = [&](int) {
      std::vector<BlockColumn> readers;
      for (size_t i = 0; i < count; ++i) readers.emplace_back(columns_[first_column + i].physical);
      for (size_t slice = next++; slice < slices_.size(); slice = next++)
        read_slice(slice, first_column, readers, visit);
    };
    const auto most = static_cast<int>(std::min<size_t>(slices_.size(), 1024));
    run_parallel(std::clamp(context_.threads, 1, std::max(1, most)), work);
  }

  template <typename Visit>
  void read_slice(size_t number, size_t first_column, std::vector<BlockColumn>& readers, const Visit& visit) {
    const TabletSlice& slice = slices_[number];
    std::vector<size_t> wanted(readers.size());
    std::iota(wanted.begin(), wanted.end(), first_column);
    std::vector<KeyColumn> read(readers.size());
    std::unique_ptr<PinnedTablet> pinned = source_.pin(slice.tablet, wanted);
    for (size_t i = 0; i < readers.size(); ++i) readers[i].begin(pinned->views[i]);
    for (int64_t first = 0; first < slice.rows; first += block_rows) {
      check_cancelled(context_);
      const int in_block = static_cast<int>(std::min<int64_t>(block_rows, slice.rows - first));
      for (size_t i = 0; i < readers.size(); ++i) read[i] = readers[i].read(slice.first_row + first, in_block);
      visit(Block{read, first_rows_[number] + first, in_block});
    }
    keep_texts(first_column, readers.size(), std::move(pinned));
  }

  // Strings stay where they are.
  void keep_texts(size_t first_column, size_t count, std::unique_ptr<PinnedTablet> pinned) {
    const auto is_text = [](const RegisterInfo& column) { return column.physical == PhysicalType::Text; };
    const auto begin = columns_.begin() + static_cast<ptrdiff_t>(first_column);
    if (std::none_of(begin, begin + static_cast<ptrdiff_t>(count), is_text)) return;
    std::lock_guard guard(mutex_);
    index_.pinned_.push_back(std::move(pinned));
  }

  static RowMask without_nulls(const Block& block) {
    RowMask mask;
    mask.fill(block.rows);
    for (const KeyColumn& key : block.columns)
      for (int w = 0; key.valid != nullptr && w < words_for(block.rows); ++w) mask.words[w] &= key.valid[w];
    return mask;
  }

  // Calls visit(row of the block, key) for all rows that have their one, whole key.
  template <typename Visit>
  void for_each_whole_key(const Block& block, Visit&& visit) const {
    for_each_whole(block, 0, without_nulls(block), visit);
  }

  // The same for one of several keys that is whole, and these rows.
  template <typename Visit>
  void for_each_whole(const Block& block, size_t key, const RowMask& mask, Visit&& visit) const {
    const Values& keys = block.columns[key].values;
    const int words = words_for(block.rows);
    if (index_.keys_[key].physical == PhysicalType::Int32)
      for_each_row(mask.words, words, [&](int row) { visit(row, int64_t{value_at<int32_t>(keys, row)}); });
    else
      for_each_row(mask.words, words, [&](int row) { visit(row, value_at<int64_t>(keys, row)); });
  }

  // Of the whole keys of these rows; find_bounds() has those of a single one.
  void add_bounds(const Block& block, const RowMask& mask) {
    if (is_whole_key(index_.keys_)) return;
    std::vector<Bounds> bounds(index_.keys_.size());
    for (size_t key = 0; key < bounds.size(); ++key) {
      if (!is_whole(index_.keys_[key])) continue;
      for_each_whole(block, key, mask, [&own = bounds[key]](int, int64_t value) {
        own.low = std::min(own.low, value);
        own.high = std::max(own.high, value);
      });
      bounds[key].is_known = true;
    }
    std::lock_guard guard(mutex_);
    index_.is_empty_ = index_.is_empty_ && !mask.any();
    for (size_t key = 0; key < bounds.size(); ++key) {
      Bounds& all = index_.bounds_[key];
      all = {std::min(all.low, bounds[key].low), std::max(all.high, bounds[key].high), bounds[key].is_known};
    }
  }

  // ---- one row of each key

  void find_ones() {
    const size_t bytes = index_.span_ / 8;
    if (index_.span_ > 0 && fits(bytes)) {
      index_.reservation_.follow(bytes);
      index_.bits_.assign(index_.span_ / 64 + 1, 0);
      for_each_block(0, 1, [&](const Block& block) {
        for_each_whole_key(block, [&](int, int64_t key) {
          const uint64_t place = index_.place_of(key), bit = uint64_t{1} << (place % 64);
          std::atomic_ref word(index_.bits_[place / 64]);
          if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
        });
      });
      return;
    }
    index_.span_ = 0;
    if (index_.keys_.empty()) return;
    if (!fits(table_bytes())) throw no_room();
    index_.reservation_.follow(rows() * sizeof(uint32_t));
    firsts_.assign(rows(), no_row);
    find_hashed_firsts();
    index_.table_->finish();
    index_.reservation_.shrink(index_.reservation_.bytes());
  }

  // ---- places that are the rows' numbers

  // False: some rows share a key, or the keys are too far apart.
  bool has_places_by_key() {
    if (index_.span_ >= static_cast<uint64_t>(std::max(small_gaps, row_count_ * gaps_a_row))) return false;
    if (!fits(rows() * sizeof(uint32_t) + index_.span_ / 8 + column_bytes(index_.span_))) return false;
    index_.reservation_.follow(rows() * sizeof(uint32_t) + index_.span_ / 8);
    index_.bits_.assign(index_.span_ / 64 + 1, 0);
    firsts_.assign(rows(), no_row);
    for_each_block(0, 1, [&](const Block& block) {
      if (has_equal_.load(std::memory_order_relaxed)) return;
      uint64_t found = 0;
      for_each_whole_key(block, [&](int row, int64_t key) {
        const uint64_t place = index_.place_of(key), bit = uint64_t{1} << (place % 64);
        firsts_[static_cast<size_t>(block.first_row + row)] = static_cast<uint32_t>(place);
        found |= std::atomic_ref(index_.bits_[place / 64]).fetch_or(bit, std::memory_order_relaxed) & bit;
      });
      if (found != 0) has_equal_.store(true, std::memory_order_relaxed);
    });
    if (has_equal_) {
      firsts_.clear();
      index_.bits_.clear();
      return false;
    }
    index_.places_ = static_cast<int64_t>(index_.span_);
    return true;
  }

  // Makes the dense array; false: some rows share a key, or there is no room for it.
  bool has_unique_places() {
    if (has_equal_ || !fits(dense_bytes())) return false;
    index_.reservation_.follow((index_.span_ + rows()) * sizeof(uint32_t));
    index_.dense_.assign(index_.span_, 0);
    for_each_block(0, 1, [&](const Block& block) {
      if (has_equal_.load(std::memory_order_relaxed)) return;
      bool found = false;
      for_each_whole_key(block, [&](int row, int64_t key) {
        std::atomic_ref<uint32_t> place(index_.dense_[index_.place_of(key)]);
        found |= place.exchange(static_cast<uint32_t>(block.first_row + row) + 1, std::memory_order_relaxed) != 0;
      });
      if (found) has_equal_.store(true, std::memory_order_relaxed);
    });
    return !has_equal_;
  }

  // False: the possible values are too many for a dense array.
  bool find_bounds() {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for_each_block(0, 1, [&](const Block& block) {
      int64_t least = INT64_MAX, greatest = INT64_MIN;
      for_each_whole_key(block, [&](int, int64_t key) {
        least = std::min(least, key);
        greatest = std::max(greatest, key);
      });
      std::lock_guard guard(mutex_);
      low = std::min(low, least);
      high = std::max(high, greatest);
    });
    index_.bounds_[0] = {low, high, true};
    index_.is_empty_ = low > high;
    if (low > high) return false;
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const int64_t places = std::max(small_places, row_count_ * places_a_row);
    const int64_t most = std::min(index_.finds_one_ ? places * bits_a_place : places, most_places);
    if (span >= static_cast<uint64_t>(most)) return false;
    index_.low_ = low;
    index_.span_ = span + 1;
    return true;
  }

  // ---- first rows with the same key

  // Parts of the keys, so many for each thread that all of them have about as much to do.
  static constexpr size_t dense_parts = 256;

  void find_firsts() {
    if (index_.span_ > 0)
      find_dense_firsts();
    else
      find_hashed_firsts();
  }

  // Calls visit(first part, end) on each thread, all parts among them.
  template <typename Visit>
  void share_parts(size_t parts, const Visit& visit) {
    const auto threads = static_cast<size_t>(std::clamp<int>(context_.threads, 1, static_cast<int>(parts)));
    run_parallel(static_cast<int>(threads), [&](int thread) {
      const auto number = static_cast<size_t>(thread);
      visit(parts * number / threads, parts * (number + 1) / threads);
    });
  }

  void find_dense_firsts() {
    std::vector<uint32_t>& dense = index_.dense_;
    dense.assign(index_.span_, 0);
    // The row's place in the array, for now.
    for_each_block(0, 1, [&](const Block& block) {
      for_each_whole_key(block, [&](int row, int64_t key) {
        firsts_[static_cast<size_t>(block.first_row + row)] = static_cast<uint32_t>(index_.place_of(key));
      });
    });
    share_parts(dense_parts, [&](size_t part, size_t end_part) {
      const auto begin = static_cast<uint32_t>(dense.size() * part / dense_parts);
      const auto end = static_cast<uint32_t>(dense.size() * end_part / dense_parts);
      for (size_t row = 0; row < firsts_.size(); ++row) {
        if ((row & 65535) == 0) check_cancelled(context_);
        const uint32_t place = firsts_[row];
        if (place < begin || place >= end) continue;
        if (dense[place] == 0) dense[place] = static_cast<uint32_t>(row) + 1;
      }
    });
    for_each_range([&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row)
        if (firsts_[row] != no_row) firsts_[row] = dense[firsts_[row]] - 1;
    });
  }

  void find_hashed_firsts() {
    KeyTable& table = index_.table_.emplace(index_.keys_, row_count_, memory_);
    for_each_block(0, index_.keys_.size(), [&](const Block& block) { write_keys(table, block); });
    share_parts(table.parts(), [&](size_t part, size_t end_part) {
      for (size_t row = 0; row < firsts_.size(); ++row) {
        if ((row & 65535) == 0) check_cancelled(context_);
        const size_t own = table.part_of(table.hashes()[row]);
        if (own < part || own >= end_part || firsts_[row] == no_row) continue;
        firsts_[row] = table.add(static_cast<uint32_t>(row));
      }
    });
  }

  void write_keys(KeyTable& table, const Block& block) {
    const RowMask mask = without_nulls(block);
    const size_t words = table.layout().words();
    const auto count = static_cast<size_t>(mask.count());
    add_bounds(block, mask);
    std::vector<uint64_t> keys(count * words), hashes(count);
    table.layout().write(block.columns, words_for(block.rows), mask, keys.data());
    table.layout().hash_rows(keys.data(), count, hashes.data());
    size_t next = 0;
    std::fill_n(table.hashes() + block.first_row, block.rows, 0);
    for_each_row(mask.words, words_for(block.rows), [&](int in_block) {
      const int64_t row = block.first_row + in_block;
      std::copy_n(keys.data() + next * words, words, table.words_of(row));
      table.hashes()[row] = hashes[next++];
      firsts_[static_cast<size_t>(row)] = 0;  // it has a key
    });
  }

  // Calls visit(begin, end) of row numbers on all threads.
  template <typename Visit>
  void for_each_range(const Visit& visit) {
    constexpr size_t range_rows = 65536;
    in_arena(context_.threads, [&] {
      tbb::parallel_for(tbb::blocked_range<size_t>(0, firsts_.size(), range_rows),
                        [&](const auto& range) { visit(range.begin(), range.end()); });
    });
  }

  void set_bits() {
    std::vector<uint64_t>& bits = index_.bits_;
    index_.reservation_.follow((index_.dense_.size() + 2 * rows() + 1) * sizeof(uint32_t) + index_.dense_.size() / 8);
    bits.assign(index_.dense_.size() / 64 + 1, 0);
    for (size_t place = 0; place < index_.dense_.size(); ++place)
      bits[place / 64] |= uint64_t{index_.dense_[place] != 0} << (place % 64);
  }

  // ---- places

  // From here on firsts_ has the rows' places, or nothing where these are their numbers.
  void place_rows() {
    std::vector<uint32_t>& ends = index_.firsts_;
    bool has_equal = false;
    for (size_t row = 0; row < firsts_.size() && !has_equal; ++row)
      has_equal = firsts_[row] != no_row && firsts_[row] != row;
    if (!has_equal) return firsts_.clear();
    index_.reservation_.follow((index_.dense_.size() + 2 * rows() + 1) * sizeof(uint32_t));
    ends.assign(rows() + 1, 0);
    for_each_first([&](uint32_t& first) { ++ends[first + 1]; });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    // Rows come in their order: the next place of a key is where the rows of the one before it end, and moves on.
    for_each_first([&](uint32_t& first) { first = ends[first]++; });
    // Each has moved to where the next one begins.
    std::move_backward(ends.begin(), ends.end() - 1, ends.end());
    ends[0] = 0;
  }

  template <typename Visit>
  void for_each_first(const Visit& visit) {
    for (size_t row = 0; row < firsts_.size(); ++row) {
      if ((row & 65535) == 0) check_cancelled(context_);
      if (firsts_[row] != no_row) visit(firsts_[row]);
    }
  }

  void fill_column(size_t number) {
    Column& column = index_.columns_[number];
    column.physical = columns_[number].physical;
    const auto width = static_cast<size_t>(width_bytes(column.physical));
    const auto places = static_cast<size_t>(index_.places_);
    column.values = memory_.allocate(std::max<size_t>(64, places * width), what);
    if (columns_[number].nullable) {
      column.valid = memory_.allocate(std::max<size_t>(64, (places + 63) / 64 * 8), what);
      std::memset(column.valid.data(), 0, column.valid.size());
    }
    for_each_block(number, 1, [&](const Block& block) {
      switch (width) {
        case 1: put<uint8_t>(block, column); break;
        case 4: put<uint32_t>(block, column); break;
        case 8: put<uint64_t>(block, column); break;
        default: put<dk_i128>(block, column); break;
      }
    });
  }

  template <typename T>
  void put(const Block& block, Column& column) const {
    const KeyColumn& from = block.columns[0];
    auto* to = reinterpret_cast<T*>(column.values.data());
    for (int row = 0; row < block.rows; ++row) {
      const auto number = static_cast<size_t>(block.first_row + row);
      const size_t place = firsts_.empty() ? number : firsts_[number];
      if (place == no_row) continue;
      to[place] = value_at<T>(from.values, row);
      if (column.valid.size() == 0) continue;
      const uint64_t is_there = from.valid == nullptr ? 1 : from.valid[row / 64] >> (row % 64) & 1;
      std::atomic_ref<uint64_t> word(reinterpret_cast<uint64_t*>(column.valid.data())[place / 64]);
      word.fetch_or(is_there << (place % 64), std::memory_order_relaxed);
    }
  }

  void fill_positions() {
    Column& column = index_.columns_.emplace_back();
    column.physical = PhysicalType::Int64;
    column.values = memory_.allocate(std::max<size_t>(64, static_cast<size_t>(index_.places_) * sizeof(int64_t)), what);
    auto* to = reinterpret_cast<int64_t*>(column.values.data());
    size_t row = 0;
    for (const TabletSlice& slice : slices_) {
      check_cancelled(context_);
      for (int64_t i = 0; i < slice.rows; ++i, ++row) {
        const size_t place = firsts_.empty() ? row : firsts_[row];
        if (place != no_row) to[place] = slice.position + i;
      }
    }
  }

  static constexpr const char* what = "index of a join";
  RowIndex& index_;
  const std::vector<RegisterInfo>& columns_;
  const Memory& memory_;
  const ExecutionContext& context_;
  const TabletSource& source_;
  const std::vector<TabletSlice>& slices_;
  std::vector<int64_t> first_rows_;  // by slice
  int64_t row_count_ = 0;
  std::vector<uint32_t> firsts_;        // by row: the first one with its key; later its place; empty: its number
  std::atomic<bool> has_equal_{false};  // two rows were seen to share their one, whole key
  std::mutex mutex_;                    // guards what threads of a pass put together
};

size_t RowIndex::table_bytes(const Program& program, const IndexInfo& info, size_t rows, bool has_positions) {
  return table_bytes(program.row_sets[static_cast<size_t>(info.row_set)].columns, keys_of(program, info), rows,
                     has_positions);
}

size_t RowIndex::table_bytes(const std::vector<RegisterInfo>& columns, const std::vector<RegisterInfo>& keys,
                             size_t rows, bool has_positions) {
  size_t bytes = has_positions ? rows * sizeof(int64_t) : 0;
  for (const RegisterInfo& column : columns)
    bytes += rows * static_cast<size_t>(width_bytes(column.physical)) + (column.nullable ? rows / 8 : 0);
  // Numbers of first rows, and where their places begin.
  bytes += 2 * rows * sizeof(uint32_t);
  return keys.empty() ? bytes : bytes + KeyTable::bytes(keys, static_cast<int64_t>(rows));
}

RowIndex::RowIndex(const Program& program, const IndexInfo& info, IndexRows rows, const Memory& memory,
                   const ExecutionContext& context)
    : keys_(keys_of(program, info)),
      finds_one_(info.finds_one && !rows.has_positions),
      rows_(std::move(rows)),
      reservation_(memory.budget(), "index of a join") {
  Builder(*this, program.row_sets[static_cast<size_t>(info.row_set)].columns, memory, context).run();
}

bool RowIndex::has_bit(uint64_t first, uint64_t last) const {
  // So many words are looked at: what is behind gaps as long is taken to be there.
  constexpr uint64_t most_words = 4096;
  const uint64_t begin = first / 64, end = last / 64;
  if (end - begin >= most_words) return true;
  for (uint64_t w = begin; w <= end; ++w) {
    uint64_t word = bits_[w];
    if (w == begin) word &= ~uint64_t{0} << (first % 64);
    if (w == end) word &= ~uint64_t{0} >> (63 - last % 64);
    if (word != 0) return true;
  }
  return false;
}

bool RowIndex::has_any(size_t key, int128_t low, int128_t high) const {
  const Bounds& bounds = bounds_[key];
  if (is_empty_) return false;
  if (!bounds.is_known) return true;
  low = std::max<int128_t>(low, bounds.low);
  high = std::min<int128_t>(high, bounds.high);
  if (low > high || bits_.empty()) return low <= high;
  return has_bit(place_of(static_cast<int64_t>(low)), place_of(static_cast<int64_t>(high)));
}

template <typename T>
void RowIndex::find_dense(const Slot& slot, int words, RowMask& rows, uint32_t* firsts) const {
  const auto place = [&](int row) { return place_of(value_at<T>(slot.values, row)); };
  for (int w = 0; w < words; ++w) {
    uint64_t found = 0;
    for_each_row_of_most(&rows.words[w], 1, [&](int bit) {
      const uint64_t at = place(w * 64 + bit);
      found |= uint64_t{at < span_ && (bits_[at / 64] >> (at % 64) & 1) != 0} << bit;
    });
    rows.words[w] = found;
  }
  if (dense_.empty())
    for_each_row_of_most(rows.words, words, [&](int row) { firsts[row] = static_cast<uint32_t>(place(row)); });
  else
    for_each_row_of_most(rows.words, words, [&](int row) { firsts[row] = dense_[place(row)] - 1; });
}

void RowIndex::find(Frame& frame, int first_key, RowMask& rows, LookUp& found) const {
  if (is_empty_) return rows.clear();
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Slot& key = frame.read(first_key + static_cast<int>(i));
    for (int w = 0; key.valid != nullptr && w < frame.words(); ++w) rows.words[w] &= key.valid[w];
  }
  if (keys_.empty()) {
    std::fill_n(found.rows, block_rows, 0);
  } else if (!bits_.empty()) {
    const Slot& key = frame.read(first_key);
    if (key.physical == PhysicalType::Int32)
      find_dense<int32_t>(key, frame.words(), rows, found.rows);
    else
      find_dense<int64_t>(key, frame.words(), rows, found.rows);
  } else {
    if (!found.keys || found.keys->rows.size() < block_rows * table_->layout().words())
      found.keys.emplace(table_->layout());
    found.keys->write(table_->layout(), frame, first_key, rows);
    table_->find(*found.keys, found.rows, found.filters);
    for (int w = 0; w < frame.words(); ++w)
      for (uint64_t left = rows.words[w]; left != 0; left &= left - 1)
        if (found.rows[w * 64 + std::countr_zero(left)] == no_row) rows.words[w] &= ~(left & -left);
  }
}

}  // namespace diptych::cpu
