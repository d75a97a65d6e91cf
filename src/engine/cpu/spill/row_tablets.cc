#include "engine/cpu/spill/row_tablets.h"

#include <algorithm>
#include <cstring>

#include "engine/rows/row_mask.h"

namespace diptych::cpu {
namespace {

constexpr size_t most_tablet_rows = 65536;
// Of the memory limit; a tablet in the making and one being read stay small beside the rest.
constexpr int64_t tablet_memory_part = 16;
// Strings of a tablet stay far below the 4 GiB that their offsets can address.
constexpr size_t most_tablet_bytes = size_t{1} << 30;
constexpr size_t least_heap = 4096;

}  // namespace

RowTablets::RowTablets(const SortLayout& layout, HostRowSet& rows, const Memory& memory, size_t most_bytes)
    : layout_(layout),
      to_(rows),
      memory_(memory),
      most_bytes_(std::min({most_tablet_bytes, most_bytes, memory.thread_share(tablet_memory_part)})) {
  size_t row_bytes = 1;
  for (size_t i = 0; i < layout.columns(); ++i) {
    const PhysicalType physical = layout.physical(i);
    const size_t width = physical == PhysicalType::Text ? 4 : static_cast<size_t>(width_bytes(physical));
    columns_.push_back({physical, width, {}, {}, 0, false});
    row_bytes += width;
  }
  capacity_ = std::clamp<size_t>(most_bytes_ / row_bytes / 64 * 64, block_rows, most_tablet_rows);
}

uint64_t* RowTablets::validity(const Column& column) const {
  return reinterpret_cast<uint64_t*>(column.values.data() + (capacity_ + 64) * column.width);
}

void RowTablets::open() {
  for (Column& column : columns_) {
    column.values = memory_.allocate((capacity_ + 64) * column.width + capacity_ / 8, "sort");
    std::memset(validity(column), 0xFF, capacity_ / 8);
    if (is_text(column)) *reinterpret_cast<uint32_t*>(column.values.data()) = 0;
  }
}

void RowTablets::add(const uint64_t* row) {
  if (rows_ == capacity_ || heap_bytes_ > most_bytes_) finish();
  if (rows_ == 0) open();
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    alignas(16) std::byte value[16];
    const bool valid = layout_.read(row, i, value);
    if (!valid) {
      validity(column)[rows_ / 64] &= ~(uint64_t{1} << (rows_ % 64));
      column.nulls = true;
    }
    if (is_text(column)) {
      dk_text text;
      std::memcpy(&text, value, sizeof(text));
      add_text(column, text);
    } else {
      std::memcpy(column.values.data() + rows_ * column.width, value, column.width);
    }
  }
  ++rows_;
}

void RowTablets::add_text(Column& column, const dk_text& text) {
  const auto length = static_cast<size_t>(text.length);
  if (column.heap_bytes + length > column.heap.size()) {
    Chunk grown = memory_.allocate(std::max({least_heap, column.heap_bytes + length, 2 * column.heap.size()}), "sort");
    if (column.heap_bytes > 0) std::memcpy(grown.data(), column.heap.data(), column.heap_bytes);
    column.heap = std::move(grown);
  }
  if (length > 0) std::memcpy(column.heap.data() + column.heap_bytes, text.data, length);
  column.heap_bytes += length;
  heap_bytes_ += length;
  reinterpret_cast<uint32_t*>(column.values.data())[rows_ + 1] = static_cast<uint32_t>(column.heap_bytes);
}

void RowTablets::finish() {
  if (rows_ == 0) return;
  std::vector<ColumnView> views;
  std::vector<Chunk> chunks;
  for (Column& column : columns_) {
    ColumnView view;
    view.physical = column.physical;
    if (column.nulls) view.validity = reinterpret_cast<const uint8_t*>(validity(column));
    if (is_text(column)) {
      view.encoding = Encoding::Heap;
      view.offsets = reinterpret_cast<const uint32_t*>(column.values.data());
      view.heap = reinterpret_cast<const char*>(column.heap.data());
      chunks.push_back(std::move(column.heap));
    } else {
      view.encoding = Encoding::Plain;
      view.data = column.values.data();
    }
    chunks.push_back(std::move(column.values));
    views.push_back(view);
    column = {column.physical, column.width, {}, {}, 0, false};
  }
  to_.add(HostPiece{static_cast<int64_t>(rows_), std::move(views), std::move(chunks), nullptr});
  rows_ = heap_bytes_ = 0;
}

}  // namespace diptych::cpu
