#include "engine/cpu/sort_run.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "engine/cpu/spill/sort_merge.h"
#include "engine/cpu/word_sort.h"
#include "engine/run/parallel.h"

namespace diptych::cpu {
namespace {

constexpr size_t most_chunk_bytes = size_t{1} << 20;
// Selecting the best of so many costs little a row; a smaller limit would select too often.
constexpr size_t least_selection = 4096;
// Rows to be sorted, of all threads together, hold at most this part of the memory limit: sorting takes up to as much
// again, and what is sorted is read beside what a scan and a result need.
constexpr int64_t run_memory_part = 4;

void sort_entries(std::vector<SortEntry>& entries, const SortLayout& layout, const ExecutionContext& context,
                  bool parallel);

}  // namespace

SortRun::SortRun(const RowSetInfo& info, const Memory& memory, const ExecutionContext& context)
    : layout_(info),
      memory_(memory),
      context_(context),
      limit_(info.limit < 0 ? SIZE_MAX : static_cast<size_t>(info.limit)),
      share_(memory.thread_share(run_memory_part)),
      reservation_(memory.budget(), "sort") {
  if (info.limit >= 0) block_.resize(block_rows * layout_.key_words());
}

void SortRun::make_room() {
  if (chunks_.empty() && limit_ > 0) open_chunk(block_rows);
}

void SortRun::open_chunk(size_t rows) {
  const size_t needed = std::max<size_t>(rows, block_rows) * layout_.words() * 8;
  const size_t bytes = std::max(std::min(most_chunk_bytes, share_ / 8), needed);
  chunks_.push_back(memory_.allocate(bytes, "sort"));
  chunk_bytes_ += bytes;
  chunk_used_ = 0;
}

uint64_t* SortRun::room_for(size_t rows) {
  const size_t words = rows * layout_.words();
  if (chunks_.empty() || (chunk_used_ + words) * 8 > chunks_.back().size()) open_chunk(rows);
  auto* place = reinterpret_cast<uint64_t*>(chunks_.back().data()) + chunk_used_;
  chunk_used_ += words;
  return place;
}

// As room_for(), but moves rows to the file when there is no memory.
uint64_t* SortRun::try_room_for(size_t rows) {
  try {
    return room_for(rows);
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory || !memory_.can_spill() || rows_.empty()) throw;
  }
  spill();
  return room_for(rows);
}

// Sorting takes the array of entries twice.
size_t SortRun::held_bytes() const { return 2 * rows_.capacity() * sizeof(SortEntry) + arena_.bytes(); }

void SortRun::account() {
  if (!memory_.can_spill()) return reservation_.follow(rows_.capacity() * sizeof(SortEntry) + arena_.bytes());
  if (held_bytes() + chunk_bytes_ > share_) return spill();
  try {
    reservation_.follow(held_bytes());
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    spill();
  }
}

void SortRun::spill() {
  if (rows_.empty()) return;
  if (!file_) file_ = std::make_unique<SortFile>(memory_);
  sort_entries(rows_, layout_, context_, false);
  if (rows_.size() > limit_) rows_.resize(limit_);
  SortFile::Writer writer(*file_, layout_);
  // Each row lies somewhere else in memory; the next ones are asked for ahead.
  constexpr size_t ahead = 16;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (i % block_rows == 0) check_cancelled(context_);
    if (i + ahead < rows_.size()) __builtin_prefetch(rows_[i + ahead].row);
    writer.add(rows_[i].row);
  }
  writer.finish();
  rows_ = {};
  // One stays for the next block.
  chunks_.erase(chunks_.begin() + 1, chunks_.end());
  chunk_used_ = 0;
  chunk_bytes_ = chunks_.front().size();
  arena_ = TextArena();
  reservation_.clear();
}

RowMask SortRun::within_threshold(Frame& frame, int first, const RowMask& rows) {
  RowMask within = rows, tied = rows;
  const size_t compared = layout_.second_decides() ? 2 : 1;
  // Most rows are turned away by their first words; only those that are as good as the worst one kept need the second.
  for (size_t number = 0; number < std::min(compared, layout_.key_words()) && tied.any(); ++number) {
    const RowNumbers asked(tied, frame.words());
    layout_.write_key_word(frame, first, asked.all(), number, block_.data());
    tied.clear();
    const uint64_t* word = block_.data() + number;
    for (const int row : asked.all()) {
      const uint64_t bit = uint64_t{1} << (row % 64);
      within.words[row / 64] &= ~(*word > threshold_[number] ? bit : 0);
      tied.words[row / 64] |= *word == threshold_[number] ? bit : 0;
      word += layout_.key_words();
    }
  }
  return within;
}

void SortRun::add(Frame& frame, int first) {
  RowMask mask = frame.sinking();
  if (limit_ == 0) return;
  if (has_threshold_) mask = within_threshold(frame, first, mask);
  const RowNumbers rows(mask, frame.words());
  const size_t count = rows.all().size(), words = layout_.words();
  if (count == 0) return;
  uint64_t* place = try_room_for(count);
  layout_.write(frame, first, rows.all(), place);
  for (size_t i = 0; i < count; ++i, place += words) {
    if (layout_.has_texts()) layout_.own_texts(place, arena_);
    rows_.push_back({place[0], layout_.second_word(place), place});
  }
  if (limit_ != SIZE_MAX && rows_.size() / 2 >= std::max(least_selection / 2, limit_)) keep_best();
  account();
}

void SortRun::keep_best() {
  const SortEntryBefore before{&layout_, &context_};
  std::nth_element(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(limit_) - 1, rows_.end(), before);
  rows_.resize(limit_);
  threshold_[0] = rows_.back().first;
  threshold_[1] = rows_.back().second;
  has_threshold_ = true;
  // Move what stays to fresh memory, so that the rest can go.
  std::vector<Chunk> old = std::exchange(chunks_, {});
  const size_t old_bytes = std::exchange(chunk_bytes_, 0);
  try {
    open_chunk(limit_);
  } catch (const Error& error) {
    chunks_ = std::move(old);
    chunk_bytes_ = old_bytes;
    if (error.state() != SqlState::out_of_memory || !memory_.can_spill()) throw;
    return spill();
  }
  TextArena old_arena = std::exchange(arena_, {});
  uint64_t* place = room_for(limit_);
  for (SortEntry& entry : rows_) {
    std::memcpy(place, entry.row, layout_.words() * 8);
    if (layout_.has_texts()) layout_.own_texts(place, arena_);
    entry.row = place;
    place += layout_.words();
  }
}

namespace {

// Whose strings the sorted rows have.
struct KeptRuns {
  std::vector<std::unique_ptr<SortRun>> runs;
};

struct OutputColumn {
  std::byte* data;
  uint64_t* valid;
  size_t width;
  bool nulls = false;
};

std::vector<OutputColumn> open_columns(const SortLayout& layout, size_t rows, const Memory& memory,
                                       std::vector<Chunk>& chunks) {
  std::vector<OutputColumn> columns;
  const auto valid_words = static_cast<size_t>(words_for(static_cast<int64_t>(rows)));
  for (size_t i = 0; i < layout.columns(); ++i) {
    const auto width = static_cast<size_t>(width_bytes(layout.physical(i)));
    const size_t data_bytes = valid_words * 64 * width;
    Chunk chunk = memory.allocate(data_bytes + valid_words * 8 + 64, "sort");
    columns.push_back({chunk.data(), reinterpret_cast<uint64_t*>(chunk.data() + data_bytes), width});
    std::memset(columns.back().valid, 0xFF, valid_words * 8);
    chunks.push_back(std::move(chunk));
  }
  return columns;
}

// Row by row, since each row lies somewhere else in memory; the next ones are asked for ahead.
HostPiece make_piece(const SortLayout& layout, const std::vector<SortEntry>& entries, size_t first, size_t count,
                     const Memory& memory) {
  constexpr size_t ahead = 16;
  HostPiece piece;
  std::vector<OutputColumn> columns = open_columns(layout, count, memory, piece.chunks);
  for (size_t i = 0; i < count; ++i) {
    if (i + ahead < count) __builtin_prefetch(entries[first + i + ahead].row);
    for (size_t c = 0; c < columns.size(); ++c) {
      OutputColumn& column = columns[c];
      if (layout.read(entries[first + i].row, c, column.data + i * column.width)) continue;
      column.valid[i / 64] &= ~(uint64_t{1} << (i % 64));
      column.nulls = true;
    }
  }
  piece.rows = static_cast<int64_t>(count);
  for (size_t c = 0; c < columns.size(); ++c) {
    ColumnView view;
    view.encoding = Encoding::Plain;
    view.physical = layout.physical(c);
    view.data = columns[c].data;
    if (columns[c].nulls) view.validity = reinterpret_cast<const uint8_t*>(columns[c].valid);
    piece.views.push_back(view);
  }
  return piece;
}

// Splits the entries by the leading bits in which their first words differ, then sorts each part, which fits the cache;
// the parts are for as many threads as there are.
void sort_entries(std::vector<SortEntry>& entries, const SortLayout& layout, const ExecutionContext& context,
                  bool parallel) {
  constexpr size_t part_rows = 512;
  const auto [low, high] = std::minmax_element(
      entries.begin(), entries.end(), [](const SortEntry& a, const SortEntry& b) { return a.first < b.first; });
  const auto room = std::make_unique_for_overwrite<SortEntry[]>(entries.size());
  if (entries.size() < 4 * part_rows || low->first == high->first)
    return sort_by_words(entries, {room.get(), entries.size()}, layout, context);
  const uint64_t least = low->first;
  const int bits = std::bit_width(high->first - least);
  const int part_bits = std::min({bits, 16, static_cast<int>(std::bit_width(entries.size() / part_rows))});
  const int shift = bits - part_bits;
  std::vector<size_t> starts((size_t{1} << part_bits) + 1);
  for (const SortEntry& entry : entries) ++starts[((entry.first - least) >> shift) + 1];
  for (size_t part = 1; part < starts.size(); ++part) starts[part] += starts[part - 1];
  std::vector<size_t> next(starts.begin(), starts.end() - 1);
  for (const SortEntry& entry : entries) room[next[(entry.first - least) >> shift]++] = entry;
  const auto sort_part = [&](size_t part) {
    const std::span there(room.get() + starts[part], starts[part + 1] - starts[part]);
    const std::span here(entries.data() + starts[part], there.size());
    std::copy(there.begin(), there.end(), here.begin());
    sort_by_words(here, there, layout, context);
  };
  if (parallel) return tbb::parallel_for(size_t{0}, next.size(), sort_part);
  for (size_t part = 0; part < next.size(); ++part) sort_part(part);
}

}  // namespace

std::shared_ptr<HostRowSet> sort_runs(const RowSetInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                      const std::vector<ColumnDefinition>& columns, const Memory& memory,
                                      const ExecutionContext& context) {
  constexpr size_t piece_rows = 65536;
  const int threads = std::max(1, context.threads);
  const SortLayout layout(info);
  auto sorted = std::make_shared<HostRowSet>(columns, memory);
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->has_spilled(); })) {
    merge_runs(layout, info.limit, std::move(runs), *sorted, context, memory);
    return sorted;
  }
  std::vector<SortEntry> entries;
  MemoryReservation reservation(memory.budget(), "sort");
  size_t total = 0;
  for (const auto& run : runs) total += run->rows();
  reservation.follow(2 * total * sizeof(SortEntry));
  entries.reserve(total);
  for (const auto& run : runs) entries.insert(entries.end(), run->rows_.begin(), run->rows_.end());
  const size_t limit = info.limit < 0 ? entries.size() : std::min(entries.size(), static_cast<size_t>(info.limit));
  std::vector<HostPiece> pieces((limit + piece_rows - 1) / piece_rows);
  const auto fill = [&](size_t i) {
    check_cancelled(context);
    pieces[i] = make_piece(layout, entries, i * piece_rows, std::min(piece_rows, limit - i * piece_rows), memory);
  };
  if (threads == 1 || entries.size() < 2 * piece_rows) {
    if (!entries.empty()) sort_entries(entries, layout, context, false);
    for (size_t i = 0; i < pieces.size(); ++i) fill(i);
  } else {
    in_arena(threads, [&] {
      sort_entries(entries, layout, context, true);
      tbb::parallel_for(size_t{0}, pieces.size(), fill);
    });
  }
  for (HostPiece& piece : pieces) sorted->add(std::move(piece));
  auto kept = std::make_shared<KeptRuns>();
  if (layout.has_texts()) kept->runs = std::move(runs);
  sorted->keep(std::shared_ptr<const void>(kept));
  return sorted;
}

}  // namespace diptych::cpu
