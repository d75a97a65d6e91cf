#include "engine/cpu/join/row_index.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/error.h"
#include "engine/cpu/join/block_column.h"
#include "engine/cpu/row_function.h"

namespace diptych::cpu {

namespace {

constexpr uint32_t no_entry = UINT32_MAX;
// A dense array has at most so many places a row, or so many in all: then its bits fit the first-level cache.
constexpr int64_t places_a_row = 8, small_places = 262144;

bool is_whole_key(const std::vector<RegisterInfo>& keys) {
  return keys.size() == 1 &&
         (keys[0].physical == PhysicalType::Int32 || keys[0].physical == PhysicalType::Int64);
}

std::vector<RegisterInfo> keys_of(const Program& program, const IndexInfo& info) {
  const std::vector<RegisterInfo>& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  std::vector<RegisterInfo> keys(columns.begin(), columns.begin() + info.keys);
  for (RegisterInfo& key : keys) key.nullable = false;  // rows with NULL are left out
  return keys;
}

}  // namespace

// Two passes over the rows: their keys, which give every row its entry; then their columns, which go to their places.
class RowIndex::Builder {
 public:
  Builder(RowIndex& index, const std::vector<RegisterInfo>& columns, const Memory& memory,
          const ExecutionContext& context)
      : index_(index), columns_(columns), memory_(memory), context_(context), source_(*index.source_) {}

  void run() {
    if (source_.row_count() >= int64_t{no_entry})
      throw Error(SqlState::program_limit_exceeded, "more than 4 billion rows on the smaller side of a join");
    index_.reservation_.follow(static_cast<size_t>(source_.row_count()) * sizeof(uint32_t));
    entries_.reserve(static_cast<size_t>(source_.row_count()));
    find_entries();
    place_rows();
    account();
    for (size_t i = 0; i < columns_.size(); ++i) fill_column(i);
  }

 private:
  // Calls visit(block) for all blocks of the tablets, with these columns read.
  template <typename Visit>
  void for_each_block(size_t first_column, size_t count, Visit&& visit) {
    std::vector<size_t> wanted(count);
    std::iota(wanted.begin(), wanted.end(), first_column);
    std::vector<BlockColumn> readers;
    for (const size_t column : wanted) readers.emplace_back(columns_[column].physical);
    std::vector<KeyColumn> read(count);
    for (size_t tablet = 0; tablet < source_.tablet_count(); ++tablet) {
      std::unique_ptr<PinnedTablet> pinned = source_.pin(tablet, wanted);
      for (size_t i = 0; i < count; ++i) readers[i].begin(pinned->views[i]);
      const int64_t rows = source_.rows_in(tablet);
      for (int64_t first = 0; first < rows; first += block_rows) {
        check_cancelled(context_);
        const int in_block = static_cast<int>(std::min<int64_t>(block_rows, rows - first));
        for (size_t i = 0; i < count; ++i) read[i] = readers[i].read(first, in_block);
        visit(std::span<const KeyColumn>(read), in_block);
      }
      keep_texts(first_column, count, std::move(pinned));
    }
  }

  // Strings stay where they are.
  void keep_texts(size_t first_column, size_t count, std::unique_ptr<PinnedTablet> pinned) {
    const auto is_text = [](const RegisterInfo& column) { return column.physical == PhysicalType::Text; };
    const auto begin = columns_.begin() + static_cast<ptrdiff_t>(first_column);
    if (std::any_of(begin, begin + static_cast<ptrdiff_t>(count), is_text)) index_.pinned_.push_back(std::move(pinned));
  }

  // ---- entries

  void find_entries() {
    const size_t keys = index_.keys_.size();
    if (keys == 0) {
      entries_.assign(static_cast<size_t>(source_.row_count()), 0);
      count_ = entries_.empty() ? 0 : 1;
    } else if (is_whole_key(index_.keys_) && find_bounds()) {
      with_kernel_type(index_.keys_[0].physical, [&]<typename T>(T) {
        if constexpr (std::is_same_v<T, dk_i32> || std::is_same_v<T, dk_i64>)
          for_each_block(0, 1, [&](std::span<const KeyColumn> block, int rows) { add_dense<T>(block[0], rows); });
      });
      set_bits();
    } else {
      index_.hashed_.emplace(index_.keys_, source_.row_count());
      for_each_block(0, keys, [&](std::span<const KeyColumn> block, int rows) { add_hashed(block, rows); });
      count_ = index_.hashed_->groups();
    }
  }

  static RowMask without_nulls(std::span<const KeyColumn> block, int rows) {
    RowMask mask;
    mask.fill(rows);
    for (const KeyColumn& key : block)
      for (int w = 0; key.valid != nullptr && w < words_for(rows); ++w) mask.words[w] &= key.valid[w];
    return mask;
  }

  // False: the possible values are too many for a dense array.
  bool find_bounds() {
    int64_t low = INT64_MAX, high = INT64_MIN;
    for_each_block(0, 1, [&](std::span<const KeyColumn> block, int rows) {
      const RowMask mask = without_nulls(block, rows);
      const bool is_narrow = index_.keys_[0].physical == PhysicalType::Int32;
      for_each_row(mask.words, words_for(rows), [&](int row) {
        const int64_t key = is_narrow ? value_at<int32_t>(block[0].values, row) : value_at<int64_t>(block[0].values, row);
        low = std::min(low, key);
        high = std::max(high, key);
      });
    });
    if (low > high) return false;
    const uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const int64_t most = std::max(small_places, source_.row_count() * places_a_row);
    if (span >= static_cast<uint64_t>(most)) return false;
    index_.low_ = low;
    index_.reservation_.follow((static_cast<size_t>(source_.row_count()) + span + 1) * sizeof(uint32_t));
    index_.dense_.assign(span + 1, 0);
    return true;
  }

  template <typename T>
  void add_dense(const KeyColumn& key, int rows) {
    const RowMask mask = without_nulls(std::span(&key, 1), rows);
    for (int row = 0; row < rows; ++row) {
      if (!mask.has(row)) {
        entries_.push_back(no_entry);
        continue;
      }
      uint32_t& place = index_.dense_[static_cast<size_t>(value_at<T>(key.values, row) - index_.low_)];
      if (place == 0) place = ++count_;
      entries_.push_back(place - 1);
    }
  }

  void set_bits() {
    std::vector<uint64_t>& bits = index_.bits_;
    bits.assign(index_.dense_.size() / 64 + 1, 0);
    for (size_t place = 0; place < index_.dense_.size(); ++place)
      bits[place / 64] |= uint64_t{index_.dense_[place] != 0} << (place % 64);
  }

  void add_hashed(std::span<const KeyColumn> block, int rows) {
    HashedKeys& hashed = *index_.hashed_;
    const RowMask mask = without_nulls(block, rows);
    const auto count = static_cast<size_t>(mask.count());
    rows_.resize(block_rows * hashed.layout().words());
    hashed.layout().write(block, words_for(rows), mask, rows_.data());
    hashed.layout().hash_rows(rows_.data(), count, hashes_);
    hashed.find_rows({rows_.data(), hashes_, count}, false, numbers_);
    size_t next = 0;
    for (int row = 0; row < rows; ++row) entries_.push_back(mask.has(row) ? numbers_[next++] : no_entry);
    account();
  }

  // ---- places

  // From here on entries_ has the rows' places.
  void place_rows() {
    const auto with_key = std::count_if(entries_.begin(), entries_.end(), [](uint32_t e) { return e != no_entry; });
    index_.rows_ = with_key;
    if (count_ == static_cast<uint32_t>(with_key)) return;  // each has its own
    std::vector<uint32_t>& firsts = index_.firsts_;
    firsts.assign(size_t{count_} + 1, 0);
    for (const uint32_t entry : entries_)
      if (entry != no_entry) ++firsts[entry + 1];
    std::partial_sum(firsts.begin(), firsts.end(), firsts.begin());
    std::vector<uint32_t> next(firsts.begin(), firsts.end() - 1);
    for (uint32_t& entry : entries_)
      if (entry != no_entry) entry = next[entry]++;
  }

  void fill_column(size_t number) {
    Column& column = index_.columns_.emplace_back();
    column.physical = columns_[number].physical;
    const auto width = static_cast<size_t>(width_bytes(column.physical));
    const auto rows = static_cast<size_t>(index_.rows_);
    column.values = memory_.allocate(std::max<size_t>(64, rows * width), what);
    if (columns_[number].nullable) {
      column.valid = memory_.allocate(std::max<size_t>(64, (rows + 63) / 64 * 8), what);
      std::memset(column.valid.data(), 0, column.valid.size());
    }
    size_t at = 0;
    for_each_block(number, 1, [&](std::span<const KeyColumn> block, int in_block) {
      const std::span<const uint32_t> places(entries_.data() + at, static_cast<size_t>(in_block));
      switch (width) {
        case 1: put<uint8_t>(block[0], places, column); break;
        case 4: put<uint32_t>(block[0], places, column); break;
        case 8: put<uint64_t>(block[0], places, column); break;
        default: put<dk_i128>(block[0], places, column); break;
      }
      at += static_cast<size_t>(in_block);
    });
  }

  template <typename T>
  static void put(const KeyColumn& from, std::span<const uint32_t> places, Column& column) {
    auto* to = reinterpret_cast<T*>(column.values.data());
    auto* valid = reinterpret_cast<uint64_t*>(column.valid.data());
    for (size_t row = 0; row < places.size(); ++row) {
      const uint32_t place = places[row];
      if (place == no_entry) continue;
      to[place] = value_at<T>(from.values, static_cast<int>(row));
      const bool is_there = from.valid == nullptr || (from.valid[row / 64] >> (row % 64) & 1) != 0;
      if (valid != nullptr && is_there) valid[place / 64] |= uint64_t{1} << (place % 64);
    }
  }

  void account() {
    size_t bytes = (entries_.capacity() + index_.dense_.capacity() + index_.firsts_.capacity()) * sizeof(uint32_t);
    if (index_.hashed_) bytes += index_.hashed_->bytes();
    index_.reservation_.follow(bytes);
  }

  static constexpr const char* what = "index of a join";
  RowIndex& index_;
  const std::vector<RegisterInfo>& columns_;
  const Memory& memory_;
  const ExecutionContext& context_;
  const TabletSource& source_;
  std::vector<uint32_t> entries_;  // by row; later places
  uint32_t count_ = 0;             // of entries
  std::vector<uint64_t> rows_;     // of a block's keys
  uint64_t hashes_[block_rows];
  uint32_t numbers_[block_rows];
};

RowIndex::RowIndex(const Program& program, const IndexInfo& info, std::shared_ptr<const TabletSource> rows,
                   const Memory& memory, const ExecutionContext& context)
    : keys_(keys_of(program, info)), source_(std::move(rows)), reservation_(memory.budget(), "index of a join") {
  Builder(*this, program.row_sets[static_cast<size_t>(info.row_set)].columns, memory, context).run();
}

template <typename T>
void RowIndex::find_dense(const Slot& slot, int words, RowMask& rows, uint32_t* entries) const {
  const uint64_t places = dense_.size();
  for (int w = 0; w < words; ++w) {
    uint64_t found = 0;
    for (uint64_t left = rows.words[w]; left != 0; left &= left - 1) {
      const int bit = std::countr_zero(left);
      const uint64_t place = place_of(value_at<T>(slot.values, w * 64 + bit));
      found |= uint64_t{place < places && (bits_[place / 64] >> (place % 64) & 1) != 0} << bit;
    }
    rows.words[w] = found;
  }
  for_each_row(rows.words, words,
               [&](int row) { entries[row] = dense_[place_of(value_at<T>(slot.values, row))] - 1; });
}

void RowIndex::find(Frame& frame, int first_key, RowMask& rows, LookUp& found) const {
  if (rows_ == 0) return rows.clear();
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Slot& key = frame.read(first_key + static_cast<int>(i));
    for (int w = 0; key.valid != nullptr && w < frame.words(); ++w) rows.words[w] &= key.valid[w];
  }
  if (keys_.empty()) {
    std::fill_n(found.entries, block_rows, 0);
  } else if (!dense_.empty()) {
    const Slot& key = frame.read(first_key);
    if (key.physical == PhysicalType::Int32)
      find_dense<int32_t>(key, frame.words(), rows, found.entries);
    else
      find_dense<int64_t>(key, frame.words(), rows, found.entries);
  } else {
    if (!found.keys || found.keys->rows.size() < block_rows * hashed_->layout().words())
      found.keys.emplace(hashed_->layout());
    found.keys->write(hashed_->layout(), frame, first_key, rows);
    RowMask unknown;
    hashed_->find_known(*found.keys, found.entries, unknown);
    rows.remove(unknown);
  }
}

}  // namespace diptych::cpu
