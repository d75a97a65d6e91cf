#include "engine/gpu/output/row_fetch.h"

#include <algorithm>
#include <cstring>

namespace diptych::gpu {
namespace {

constexpr int64_t most_part_bytes = int64_t{128} << 20;

// Bytes of 0 and 1 as bits, which may start where the bytes do; returns whether any is 0.
bool pack_bytes(const uint8_t* bytes, int64_t count, uint8_t* bits) {
  bool any_zero = false;
  int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes + i, 8);
    // Byte j, which is 0 or 1, arrives at bit 56 + j.
    bits[i / 8] = static_cast<uint8_t>((eight * 0x0102040810204080U) >> 56);
    any_zero |= eight != 0x0101010101010101U;
  }
  if (i == count) return any_zero;
  uint8_t last = 0;
  for (int64_t j = i; j < count; ++j) last = static_cast<uint8_t>(last | bytes[j] << (j - i));
  bits[i / 8] = last;
  return any_zero || last != (1U << (count - i)) - 1;
}

}  // namespace

void RowFetch::add(const FetchedColumn& column) { columns_.emplace_back().from = column; }

void RowFetch::keep(const FetchedColumn& column, PinnedBuffer values, PinnedBuffer nulls) {
  values.shrink(rows_ * column.column.width());
  nulls.shrink(rows_);
  Column& added = columns_.emplace_back();
  added.from = column;
  added.values = own_all(column.column.width(), std::move(values));
  if (column.column.nullable) added.nulls = own_all(1, std::move(nulls));
}

RowFetch::Parts RowFetch::own_all(int width, PinnedBuffer buffer) { return {width, rows_, {own(std::move(buffer))}}; }

std::byte* RowFetch::own(PinnedBuffer buffer) {
  reserve_on_host(*reserved_, buffer.bytes());
  std::byte* data = buffer.data();
  owners_.push_back(std::make_shared<PinnedBuffer>(std::move(buffer)));
  return data;
}

void RowFetch::start() {
  for (size_t first = 0; first < columns_.size();) {
    const size_t count = count_alike(first);
    if (count > 1)
      copy_alike(std::span(columns_).subspan(first, count));
    else if (columns_[first].values.parts.empty())
      copy(columns_[first]);
    first += count;
  }
}

size_t RowFetch::count_alike(size_t first) const {
  const Column& column = columns_[first];
  const int width = column.from.column.width();
  size_t end = first + 1;
  if (!is_alike(column)) return 1;
  for (; end < columns_.size() && is_alike(columns_[end]); ++end) {
    const FetchedColumn &next = columns_[end].from, &before = columns_[end - 1].from;
    if (next.column.width() != width || next.column.nullable != column.from.column.nullable) break;
    const uint64_t distance = columns_[first + 1].from.values.value - column.from.values.value;
    if (next.values.value - before.values.value != distance) break;
    if (next.column.nullable && next.nulls.value - before.nulls.value != distance) break;
    if (static_cast<int64_t>(end - first + 1) * padded(rows_ * width) > most_part_bytes) break;
  }
  return end - first;
}

// Whether a column's values are copied as they are.
bool RowFetch::is_alike(const Column& column) const {
  return sort_ == nullptr && column.values.parts.empty() && !column.from.column.is_text_row();
}

void RowFetch::copy_alike(std::span<Column> columns) {
  const FetchedColumn& first = columns[0].from;
  const int width = first.column.width();
  const auto distance = static_cast<int64_t>(columns[1].from.values.value - first.values.value);
  std::byte* values = copy_lines(columns.size(), width, first.values, distance);
  std::byte* nulls = first.column.nullable ? copy_lines(columns.size(), 1, first.nulls, distance) : nullptr;
  for (Column& column : columns) {
    column.values = {width, rows_, {values}};
    values += padded(rows_ * width);
    if (nulls == nullptr) continue;
    column.nulls = {1, rows_, {nulls}};
    nulls += padded(rows_);
  }
}

// The elements of so many columns, each of which starts on a multiple of 256 bytes.
std::byte* RowFetch::copy_lines(size_t count, int width, DeviceAddress from, int64_t distance) {
  const auto columns = static_cast<int64_t>(count);
  const int64_t bytes = rows_ * width, pitch = padded(bytes);
  std::byte* to = own(device_.allocate_pinned(columns * pitch, "result rows"));
  queue_.copy_lines_to_host(to, from, {columns, bytes, pitch, distance});
  return to;
}

std::vector<HostPiece> RowFetch::finish() {
  for (Column& column : columns_) {
    if (!column.nulls.parts.empty()) pack_nulls(column);
    if (column.texts) owners_.push_back(column.texts->memory());
  }
  owners_.push_back(reserved_);
  const auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(owners_));
  std::vector<HostPiece> pieces;
  for (int64_t first = 0; first < rows_; first += TextFetch::piece_rows) {
    HostPiece& piece = pieces.emplace_back();
    piece.rows = std::min(TextFetch::piece_rows, rows_ - first);
    piece.owner = owners;
    for (const Column& column : columns_) piece.views.push_back(view(column, first));
  }
  return pieces;
}

void RowFetch::copy(Column& column) {
  const int width = column.from.column.width();
  const DeviceAddress values = in_order(width, column.from.values);
  if (column.from.column.is_text_row()) {
    column.texts.emplace(device_, queue_, values, rows_);
    reserve_on_host(*reserved_, column.texts->bytes());
  } else {
    column.values = copy_elements(width, values);
  }
  if (column.from.column.nullable) column.nulls = copy_elements(1, in_order(1, column.from.nulls));
}

RowFetch::Parts RowFetch::copy_elements(int width, DeviceAddress from) {
  Parts copied{width, most_part_bytes / width / TextFetch::piece_rows * TextFetch::piece_rows, {}};
  for (int64_t first = 0; first < rows_; first += copied.part_rows) {
    const int64_t bytes = std::min(copied.part_rows, rows_ - first) * width;
    copied.parts.push_back(own(device_.allocate_pinned(bytes, "result rows")));
    queue_.copy_to_host(copied.parts.back(), from + first * width, bytes);
  }
  return copied;
}

// Where the values are in the order of the sort: until the next column is asked for.
DeviceAddress RowFetch::in_order(int width, DeviceAddress from) {
  return sort_ == nullptr ? from : sort_->in_order(width, from);
}

void RowFetch::pack_nulls(Column& column) {
  for (int64_t first = 0; first < rows_; first += column.nulls.part_rows) {
    auto* bytes = reinterpret_cast<uint8_t*>(column.nulls.at(first));
    column.has_nulls |= pack_bytes(bytes, std::min(column.nulls.part_rows, rows_ - first), bytes);
  }
}

// Of the piece that begins with row `first`.
ColumnView RowFetch::view(const Column& column, int64_t first) const {
  const OutputColumn& output = column.from.column;
  ColumnView view;
  view.physical = output.physical;
  if (column.has_nulls) {
    const Parts& nulls = column.nulls;
    const auto part = static_cast<size_t>(first / nulls.part_rows);
    view.validity = reinterpret_cast<const uint8_t*>(nulls.parts[part]) + first % nulls.part_rows / 8;
  }
  if (output.is_text_row()) {
    column.texts->show(first / TextFetch::piece_rows, view);
    return view;
  }
  view.encoding = output.dictionary_column >= 0 ? Encoding::Dictionary : Encoding::Plain;
  view.width = static_cast<uint8_t>(output.width());
  view.dictionary = column.from.dictionary;
  view.data = column.values.at(first);
  return view;
}

}  // namespace diptych::gpu
