#include "engine/cpu/join/row_index_builder.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace diptych::cpu {

namespace {

constexpr uint32_t no_row = PackedRows::no_place;
static_assert(KeyTable::no_row == no_row);
// Keys have bits where there is one of so many possible values a row. Bits that the second-level cache holds may be of
// more: most keys that are not there then touch nothing else, and need no hash.
constexpr int64_t bits_a_row = 16, cached_bits_a_row = 128, cached_bits = int64_t{1} << 23, few_bits = 262144;
constexpr int64_t most_bits = int64_t{1} << 31;
// Bits of all threads together, each with its own: putting them together takes little then. More are shared, where
// threads seldom meet.
constexpr size_t most_own_bytes = size_t{32} << 20;
// Rows stand by key where so many of the possible keys are there, for gaps take memory.
constexpr int64_t gaps_a_row = 2, few_gaps = 16384;

bool is_whole(const RegisterInfo& key) {
  return key.physical == PhysicalType::Int32 || key.physical == PhysicalType::Int64;
}

bool is_whole_key(const std::vector<RegisterInfo>& keys) { return keys.size() == 1 && is_whole(keys[0]); }

// Bits alone take no more memory than hashes.
int64_t most_bits_alone(int64_t rows) { return std::min(most_bits, std::max(few_bits, rows * cached_bits_a_row)); }

int64_t most_bits_of(int64_t rows) {
  const int64_t cached = std::min(cached_bits, rows * cached_bits_a_row);
  return std::min(most_bits, std::max({few_bits, cached, rows * bits_a_row}));
}

RowMask without_nulls(const RowBlocks::Block& block) {
  RowMask mask;
  mask.fill(block.rows);
  for (const KeyColumn& key : block.columns)
    for (int w = 0; key.valid != nullptr && w < words_for(block.rows); ++w) mask.words[w] &= key.valid[w];
  return mask;
}

std::vector<size_t> first_columns(size_t count) {
  std::vector<size_t> columns(count);
  std::iota(columns.begin(), columns.end(), size_t{0});
  return columns;
}

}  // namespace

RowIndexBuilder::RowIndexBuilder(RowIndex& index, const std::vector<RegisterInfo>& columns, const Memory& memory,
                                 const ExecutionContext& context)
    : index_(index),
      memory_(memory),
      context_(context),
      blocks_(index.rows_, columns, context),
      row_count_(blocks_.row_count()),
      places_(rows()) {}

void RowIndexBuilder::run() {
  if (row_count_ >= int64_t{no_row})
    throw Error(SqlState::program_limit_exceeded, "more than 4 billion rows on the smaller side of a join");
  const bool has_keys = !index_.keys_.empty();
  index_.bounds_.resize(index_.keys_.size());
  index_.is_empty_ = has_keys || rows() == 0;
  if (!is_whole_key(index_.keys_) || !find_bounds() || !has_bits()) {
    if (!fits(table_bytes(index_.keys_, index_.payload_, rows())))
      throw Error(SqlState::out_of_memory, "an index of a join has no room in its part of memory_limit");
    if (has_keys)
      find_hashed_firsts();
    else
      firsts_.assign(rows(), 0, memory_);
    if (!index_.finds_one_ && (has_keys ? has_equal_.load() : rows() > 1))
      place_rows(rows());
    else
      firsts_.clear();
  }
  fill_payload();
  index_.pinned_ = blocks_.take_texts();
}

size_t RowIndexBuilder::table_bytes(const std::vector<RegisterInfo>& keys, const PackedRows& payload, size_t rows) {
  // Numbers of first rows, and where their places begin.
  const size_t bytes = rows * payload.stride() + 2 * rows * sizeof(uint32_t);
  return keys.empty() ? bytes
                      : bytes + KeyTable::bytes(keys, static_cast<int64_t>(rows)) + RowsByOwner::bytes(rows, 0, 0);
}

template <typename Visit>
void RowIndexBuilder::for_each_whole(const Block& block, size_t key, const RowMask& mask, Visit&& visit) const {
  const Values& keys = block.columns[key].values;
  const int words = words_for(block.rows);
  if (index_.keys_[key].physical == PhysicalType::Int32)
    for_each_row(mask.words, words, [&](int row) { visit(row, int64_t{value_at<int32_t>(keys, row)}); });
  else
    for_each_row(mask.words, words, [&](int row) { visit(row, value_at<int64_t>(keys, row)); });
}

template <typename Visit>
void RowIndexBuilder::for_each_whole_key(const Block& block, Visit&& visit) const {
  for_each_whole(block, 0, without_nulls(block), visit);
}

template <typename Visit>
void RowIndexBuilder::for_each_range(const Visit& visit) {
  constexpr size_t range_rows = 65536;
  in_arena(context_.threads, [&] {
    tbb::parallel_for(tbb::blocked_range<size_t>(0, firsts_.size(), range_rows),
                      [&](const auto& range) { visit(range.begin(), range.end()); });
  });
}

template <typename Visit>
void RowIndexBuilder::share_parts(size_t parts, const Visit& visit) {
  const size_t threads = sharers(parts);
  run_parallel(static_cast<int>(threads), [&](int thread) {
    const auto number = static_cast<size_t>(thread);
    visit(number, parts * number / threads, parts * (number + 1) / threads);
  });
}

// ---- keys that have bits

// False: no row has its key.
bool RowIndexBuilder::find_bounds() {
  Bounds all;
  blocks_.for_each({0}, [&](const Block& block) {
    Bounds own;
    for_each_whole_key(block, [&](int, int64_t key) {
      own.low = std::min(own.low, key);
      own.high = std::max(own.high, key);
    });
    std::lock_guard guard(mutex_);
    all = {std::min(all.low, own.low), std::max(all.high, own.high), true};
  });
  all.is_known = true;
  index_.bounds_[0] = all;
  index_.is_empty_ = all.low > all.high;
  return !index_.is_empty_;
}

// False: the possible keys are too many, or there is no room for bits.
bool RowIndexBuilder::has_bits() {
  const Bounds& bounds = index_.bounds_[0];
  if (index_.finds_one_) return has_bits_alone();
  const uint64_t last = static_cast<uint64_t>(bounds.high) - static_cast<uint64_t>(bounds.low), span = last + 1;
  if (last >= static_cast<uint64_t>(most_bits_of(row_count_)) - 1) return false;
  const size_t stride = index_.payload_.stride();
  const size_t key_bytes = KeyBits::bytes(span) + rows() * sizeof(uint32_t);
  const size_t all_bytes = key_bytes + rows() * (sizeof(uint32_t) + stride);
  if (!fits(all_bytes)) return false;
  open_bits(bounds, span, all_bytes);
  set_bits();
  if (!has_equal_ && span < static_cast<uint64_t>(std::max(few_gaps, row_count_ * gaps_a_row)) &&
      fits(key_bytes + span * stride)) {
    places_ = span;
    index_.bits_.find_numbers();
    return true;
  }
  const uint32_t keys = index_.bits_.find_ranks(memory_);
  for_each_range([&](size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      if (firsts_[row] != no_row) firsts_[row] = index_.bits_.rank_of(firsts_[row]);
  });
  if (has_equal_) place_rows(keys);
  return true;
}

bool RowIndexBuilder::has_bits_alone() {
  const Bounds& bounds = index_.bounds_[0];
  const uint64_t last = static_cast<uint64_t>(bounds.high) - static_cast<uint64_t>(bounds.low);
  if (last >= static_cast<uint64_t>(most_bits_alone(row_count_)) - 1 || !fits(KeyBits::bytes(last + 1))) return false;
  open_bits(bounds, last + 1, 0);
  blocks_.for_each({0}, [&](const Block& block) {
    index_.bits_.begin(block.worker);
    for_each_whole_key(block, [&](int, int64_t key) { index_.bits_.add(block.worker, index_.bits_.number_of(key)); });
  });
  merge_bits();
  index_.bits_.find_numbers();
  return true;
}

void RowIndexBuilder::open_bits(const Bounds& bounds, uint64_t span, size_t others) {
  const auto workers = static_cast<size_t>(std::max(1, context_.threads));
  const size_t bytes = workers * KeyBits::bit_bytes(span);
  index_.bits_.open(bounds.low, span, workers, bytes <= most_own_bytes && fits(bytes + others), memory_);
}

void RowIndexBuilder::merge_bits() {
  const size_t words = index_.bits_.words();
  constexpr size_t parts = 64;
  share_parts(parts, [&](size_t, size_t part, size_t end_part) {
    if (index_.bits_.merge(words * part / parts, words * end_part / parts)) has_equal_ = true;
  });
  index_.bits_.end();
}

// firsts_ then has the keys' numbers.
void RowIndexBuilder::set_bits() {
  firsts_.allocate(rows(), memory_);
  blocks_.for_each({0}, [&](const Block& block) {
    bool found = false;
    index_.bits_.begin(block.worker);
    std::fill_n(firsts_.begin() + block.first_row, block.rows, no_row);
    for_each_whole_key(block, [&](int row, int64_t key) {
      const uint64_t number = index_.bits_.number_of(key);
      firsts_[static_cast<size_t>(block.first_row + row)] = static_cast<uint32_t>(number);
      found |= index_.bits_.add(block.worker, number);
    });
    if (found) has_equal_.store(true, std::memory_order_relaxed);
  });
  merge_bits();
}

// ---- keys that have hashes

void RowIndexBuilder::find_hashed_firsts() {
  firsts_.allocate(rows(), memory_);
  KeyTable& table = index_.table_.emplace(index_.keys_, row_count_, memory_);
  std::vector<uint16_t> owners(table.parts());
  for (size_t part = 0, sharers_of = sharers(table.parts()), owner = 0; part < owners.size(); ++part) {
    if (part == table.parts() * (owner + 1) / sharers_of) ++owner;
    owners[part] = static_cast<uint16_t>(owner);
  }
  RowsByOwner by_owner(rows(), blocks_.block_count(), sharers(table.parts()), memory_);
  blocks_.for_each(first_columns(index_.keys_.size()),
                   [&](const Block& block) { write_keys(table, block, owners, by_owner); });
  share_parts(table.parts(), [&](size_t owner, size_t part, size_t end_part) {
    table.clear_parts(part, end_part);
    by_owner.for_each(owner, [&](const uint32_t* rows, const uint64_t* hashes, size_t count) {
      check_cancelled(context_);
      if (!table.add(rows, hashes, count, firsts_.begin())) has_equal_.store(true, std::memory_order_relaxed);
    });
  });
}

void RowIndexBuilder::write_keys(KeyTable& table, const Block& block, const std::vector<uint16_t>& owners,
                                 RowsByOwner& rows) {
  const RowMask mask = without_nulls(block);
  const size_t words = table.layout().words();
  const auto count = static_cast<size_t>(mask.count());
  add_bounds(block, mask);
  std::vector<uint64_t> keys(count * words), hashes(count);
  table.layout().write(block.columns, words_for(block.rows), mask, keys.data());
  table.layout().hash_rows(keys.data(), count, hashes.data());
  uint16_t in_block[block_rows];
  size_t next = 0;
  std::fill_n(firsts_.begin() + block.first_row, block.rows, no_row);
  for_each_row(mask.words, words_for(block.rows), [&](int row) {
    const int64_t number = block.first_row + row;
    table.put(number, keys.data() + next * words);
    firsts_[static_cast<size_t>(number)] = static_cast<uint32_t>(number);
    in_block[next++] = static_cast<uint16_t>(row);
  });
  rows.put(block.number, block.first_row, in_block, hashes.data(), count,
           [&](uint64_t hash) { return owners[table.part_of(hash)]; });
}

// Of the whole keys of these rows; find_bounds() has those of a single one.
void RowIndexBuilder::add_bounds(const Block& block, const RowMask& mask) {
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

// ---- places

template <typename Visit>
void RowIndexBuilder::for_each_first(const Visit& visit) {
  for (size_t row = 0; row < firsts_.size(); ++row) {
    if ((row & 65535) == 0) check_cancelled(context_);
    if (firsts_[row] != no_row) visit(firsts_[row]);
  }
}

// Of rows that share keys, which have so many numbers: from here on firsts_ has the rows' places.
void RowIndexBuilder::place_rows(size_t keys) {
  IndexArray<uint32_t>& ends = index_.firsts_;
  ends.assign(keys + 1, 0, memory_);
  for_each_first([&](uint32_t& first) { ++ends[first + 1]; });
  std::partial_sum(ends.begin(), ends.end(), ends.begin());
  // Rows come in their order: the next place of a key is where the rows of the one before it end, and moves on.
  for_each_first([&](uint32_t& first) { first = ends[first]++; });
  // Each has moved to where the next one begins.
  std::move_backward(ends.begin(), ends.end() - 1, ends.end());
  ends[0] = 0;
}

void RowIndexBuilder::fill_payload() {
  PackedRows& payload = index_.payload_;
  if (payload.columns().empty()) return;
  payload.allocate(places_, memory_);
  std::vector<size_t> read = payload.columns();
  if (index_.rows_.has_positions) {
    std::erase(read, payload.column_count() - 1);
    fill_positions();
  }
  if (read.empty()) return;
  blocks_.for_each(read, [&](const Block& block) {
    uint32_t own[block_rows];
    const uint32_t* places = firsts_.begin() + block.first_row;
    if (firsts_.empty()) {
      std::iota(own, own + block.rows, static_cast<uint32_t>(block.first_row));
      places = own;
    }
    for (size_t i = 0; i < read.size(); ++i) payload.write(read[i], block.columns[i], places, block.rows);
  });
}

void RowIndexBuilder::fill_positions() {
  PackedRows& payload = index_.payload_;
  size_t row = 0;
  for (const TabletSlice& slice : index_.rows_.slices) {
    check_cancelled(context_);
    for (int64_t i = 0; i < slice.rows; ++i, ++row) {
      const size_t place = firsts_.empty() ? row : firsts_[row];
      if (place != no_row) payload.write_whole(payload.column_count() - 1, place, slice.position + i);
    }
  }
}

}  // namespace diptych::cpu
