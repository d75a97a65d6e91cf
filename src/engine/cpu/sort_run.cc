#include "engine/cpu/sort_run.h"

#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>

#include <algorithm>
#include <cstring>

#include "engine/cpu/parallel.h"

namespace diptych::cpu {
namespace {

constexpr size_t chunk_words = size_t{1} << 17;
// Selecting the best of so many costs little a row; a smaller limit would select too often.
constexpr size_t least_selection = 4096;

}  // namespace

SortRun::SortRun(const SorterInfo& info, const Memory& memory)
    : layout_(info),
      memory_(memory),
      limit_(info.limit < 0 ? SIZE_MAX : static_cast<size_t>(info.limit)),
      reservation_(std::make_unique<GrowingReservation>(memory.budget(), "sort")) {
  block_.resize(block_rows * layout_.words());
}

uint64_t* SortRun::room_for(size_t rows) {
  const size_t words = rows * layout_.words();
  if (chunks_.empty() || (chunk_used_ + words) * 8 > chunks_.back().size()) {
    chunks_.push_back(memory_.allocate(std::max(chunk_words, words) * 8, "sort"));
    chunk_used_ = 0;
  }
  auto* place = reinterpret_cast<uint64_t*>(chunks_.back().data()) + chunk_used_;
  chunk_used_ += words;
  return place;
}

void SortRun::add(Frame& frame, int first) {
  const RowMask mask = frame.sinking();
  const auto count = static_cast<size_t>(mask.count());
  if (count == 0 || limit_ == 0) return;
  const size_t words = layout_.words();
  layout_.write(frame, first, mask, block_.data());
  size_t kept = count;
  if (has_threshold_) {
    kept = 0;
    for (size_t i = 0; i < count; ++i) {
      if (block_[i * words] > threshold_) continue;
      if (kept != i) std::memcpy(&block_[kept * words], &block_[i * words], words * 8);
      ++kept;
    }
    if (kept == 0) return;
  }
  uint64_t* place = room_for(kept);
  std::memcpy(place, block_.data(), kept * words * 8);
  for (size_t i = 0; i < kept; ++i) {
    if (layout_.has_texts()) layout_.own_texts(place + i * words, arena_);
    rows_.push_back({place[i * words], place + i * words});
  }
  if (limit_ != SIZE_MAX && rows_.size() >= std::max(least_selection, 2 * limit_)) keep_best();
  reservation_->follow(rows_.capacity() * sizeof(Entry) + arena_.bytes());
}

void SortRun::keep_best() {
  const Before before{&layout_};
  std::nth_element(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(limit_) - 1, rows_.end(), before);
  rows_.resize(limit_);
  threshold_ = rows_.back().first;
  has_threshold_ = true;
  // Move what stays to fresh memory, so that the rest can go.
  const std::vector<Chunk> old = std::move(chunks_);
  TextArena old_arena = std::move(arena_);
  chunks_.clear();
  arena_ = TextArena();
  uint64_t* place = room_for(limit_);
  for (Entry& entry : rows_) {
    std::memcpy(place, entry.row, layout_.words() * 8);
    if (layout_.has_texts()) layout_.own_texts(place, arena_);
    entry.row = place;
    place += layout_.words();
  }
}

namespace {

struct SortedRows {
  std::vector<std::unique_ptr<SortRun>> runs;
};

template <typename Entries>
BlockTablet make_tablet(const SortLayout& layout, const Entries& entries, size_t first, size_t count, const Memory& memory,
                        std::vector<Chunk>& chunks) {
  BlockTablet tablet;
  tablet.rows = static_cast<int64_t>(count);
  const auto valid_words = static_cast<size_t>(words_for(static_cast<int64_t>(count)));
  for (size_t column = 0; column < layout.columns(); ++column) {
    ColumnView view;
    view.encoding = Encoding::Plain;
    view.physical = layout.physical(column);
    const auto width = static_cast<size_t>(width_bytes(view.physical));
    const size_t data_bytes = valid_words * 64 * width;
    Chunk chunk = memory.allocate(data_bytes + valid_words * 8 + 64, "sort");
    auto* valid = reinterpret_cast<uint64_t*>(chunk.data() + data_bytes);
    std::memset(valid, 0xFF, valid_words * 8);
    bool nulls = false;
    for (size_t i = 0; i < count; ++i) {
      if (layout.read(entries[first + i].row, column, chunk.data() + i * width)) continue;
      valid[i / 64] &= ~(uint64_t{1} << (i % 64));
      nulls = true;
    }
    view.data = chunk.data();
    if (nulls) view.validity = reinterpret_cast<const uint8_t*>(valid);
    tablet.views.push_back(view);
    chunks.push_back(std::move(chunk));
  }
  return tablet;
}

}  // namespace

std::unique_ptr<BlockSource> sort_runs(const SorterInfo& info, std::vector<std::unique_ptr<SortRun>> runs,
                                       const std::vector<ColumnDefinition>& columns, const Memory& memory, int threads) {
  constexpr size_t tablet_rows = 65536;
  const SortLayout layout(info);
  const SortRun::Before before{&layout};
  std::vector<SortRun::Entry> entries;
  GrowingReservation reservation(memory.budget(), "sort");
  size_t total = 0;
  for (const auto& run : runs) total += run->rows();
  reservation.follow(total * sizeof(SortRun::Entry));
  entries.reserve(total);
  for (const auto& run : runs) entries.insert(entries.end(), run->rows_.begin(), run->rows_.end());
  const size_t limit = info.limit < 0 ? entries.size() : std::min(entries.size(), static_cast<size_t>(info.limit));
  auto source = std::make_unique<BlockSource>(columns);
  std::vector<BlockTablet> tablets((limit + tablet_rows - 1) / tablet_rows);
  std::vector<std::vector<Chunk>> chunks(tablets.size());
  const auto fill = [&](size_t i) {
    tablets[i] = make_tablet(layout, entries, i * tablet_rows, std::min(tablet_rows, limit - i * tablet_rows), memory, chunks[i]);
  };
  if (threads == 1 || entries.size() < 2 * tablet_rows) {
    std::sort(entries.begin(), entries.end(), before);
    for (size_t i = 0; i < tablets.size(); ++i) fill(i);
  } else {
    in_arena(threads, [&] {
      tbb::parallel_sort(entries.begin(), entries.end(), before);
      tbb::parallel_for(size_t{0}, tablets.size(), fill);
    });
  }
  for (size_t i = 0; i < tablets.size(); ++i) {
    source->add(std::move(tablets[i]));
    for (Chunk& chunk : chunks[i]) source->keep(std::move(chunk));
  }
  // The strings of the sorted rows are in the runs.
  auto owned = std::make_shared<SortedRows>();
  if (layout.has_texts()) owned->runs = std::move(runs);
  source->keep(std::shared_ptr<const void>(owned));
  return source;
}

}  // namespace diptych::cpu
