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
  std::byte* data = buffer.data();
  owners_.push_back(std::make_shared<PinnedBuffer>(std::move(buffer)));
  return data;
}

void RowFetch::start() {
  for (Column& column : columns_) {
    if (column.values.parts.empty()) copy(column);
  }
}

std::vector<SectionRows> RowFetch::finish() {
  for (Column& column : columns_) {
    if (!column.nulls.parts.empty()) pack_nulls(column);
    if (column.texts) owners_.push_back(column.texts->memory());
  }
  const auto owners = std::make_shared<std::vector<std::shared_ptr<const void>>>(std::move(owners_));
  std::vector<SectionRows> pieces;
  for (int64_t first = 0; first < rows_; first += TextRows::piece_rows) {
    SectionRows& piece = pieces.emplace_back();
    piece.rows = std::min(TextRows::piece_rows, rows_ - first);
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
    launches_ += column.texts->launches();
  } else {
    column.values = copy_elements(width, values);
  }
  if (column.from.column.nullable) column.nulls = copy_elements(1, in_order(1, column.from.nulls));
}

RowFetch::Parts RowFetch::copy_elements(int width, DeviceAddress from) {
  Parts copied{width, most_part_bytes / width / TextRows::piece_rows * TextRows::piece_rows, {}};
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
    column.texts->show(first / TextRows::piece_rows, view);
    return view;
  }
  view.encoding = output.dictionary_column >= 0 ? Encoding::Dictionary : Encoding::Plain;
  view.width = static_cast<uint8_t>(output.width());
  view.dictionary = column.from.dictionary;
  view.data = column.values.at(first);
  return view;
}

}  // namespace diptych::gpu
