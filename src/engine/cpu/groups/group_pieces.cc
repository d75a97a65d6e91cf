#include "engine/cpu/groups/group_pieces.h"

#include <algorithm>
#include <cstring>

#include "engine/rows/row_mask.h"

namespace diptych::cpu {
namespace {

constexpr size_t tablet_rows = 65536;
// Strings of a tablet's column stay far below the 4 GiB that their offsets can address.
constexpr uint64_t most_heap_bytes = uint64_t{1} << 28;

// A column of a tablet, its values in register form.
struct EmittedColumn {
  PhysicalType physical;
  Chunk chunk;  // values, then validity
  uint64_t* valid = nullptr;
  bool has_nulls = false;

  const dk_text* texts() const { return reinterpret_cast<const dk_text*>(chunk.data()); }
  uint64_t length(size_t row) const { return static_cast<uint64_t>(texts()[row].length); }
};

// So many of the rows have strings that fit one tablet; at least one.
size_t rows_that_fit(const std::vector<EmittedColumn>& columns, size_t rows) {
  for (const EmittedColumn& column : columns) {
    if (column.physical != PhysicalType::Text) continue;
    uint64_t bytes = 0;
    for (size_t row = 0; row < rows; ++row) {
      bytes += column.length(row);
      if (bytes > most_heap_bytes && row > 0) rows = row;
    }
  }
  return rows;
}

// Replaces strings by offsets and bytes.
ColumnView make_heap(const EmittedColumn& column, size_t rows, const Memory& memory, std::vector<Chunk>& chunks) {
  uint64_t bytes = 0;
  for (size_t row = 0; row < rows; ++row) bytes += column.length(row);
  Chunk offset_chunk = memory.allocate((rows + 1 + 64) * 4, "groups");
  Chunk heap = memory.allocate(bytes + 64, "groups");
  auto* offsets = reinterpret_cast<uint32_t*>(offset_chunk.data());
  uint32_t at = 0;
  for (size_t row = 0; row < rows; ++row) {
    offsets[row] = at;
    if (column.length(row) > 0) std::memcpy(heap.data() + at, column.texts()[row].data, column.length(row));
    at += static_cast<uint32_t>(column.length(row));
  }
  offsets[rows] = at;
  ColumnView view;
  view.encoding = Encoding::Heap;
  view.offsets = offsets;
  view.heap = reinterpret_cast<const char*>(heap.data());
  chunks.push_back(std::move(offset_chunk));
  chunks.push_back(std::move(heap));
  return view;
}

// Some rows at a time, so that those of keys and states stay in the cache from one column to the next.
void emit_columns(std::span<const uint32_t> groups, size_t keys, const KeyEmitter& emit_key,
                  const AggregateStates& states, std::vector<EmittedColumn>& columns) {
  for (size_t first = 0; first < groups.size(); first += block_rows) {
    const auto some = groups.subspan(first, std::min<size_t>(block_rows, groups.size() - first));
    for (size_t i = 0; i < columns.size(); ++i) {
      EmittedColumn& column = columns[i];
      std::byte* const out = column.chunk.data() + first * static_cast<size_t>(width_bytes(column.physical));
      uint64_t* const valid = column.valid + first / 64;
      column.has_nulls |= i < keys ? emit_key(i, some, out, valid) : states[i - keys].emit(some, out, valid);
    }
  }
}

}  // namespace

std::vector<HostPiece> make_group_pieces(const HashTableInfo& info, std::span<const uint32_t> groups,
                                         const KeyEmitter& emit_key, const AggregateStates& states,
                                         const Memory& memory) {
  std::vector<HostPiece> pieces;
  while (!groups.empty()) {
    size_t rows = std::min(tablet_rows, groups.size());
    const auto valid_words = static_cast<size_t>(words_for(static_cast<int64_t>(rows)));
    std::vector<EmittedColumn> columns;
    for (size_t i = 0; i < info.keys.size() + states.count(); ++i) {
      const bool is_key = i < info.keys.size();
      const size_t number = is_key ? i : i - info.keys.size();
      EmittedColumn column{is_key ? info.keys[number].physical : info.aggregates[number].result.physical, {}};
      const size_t data_bytes = valid_words * 64 * static_cast<size_t>(width_bytes(column.physical));
      column.chunk = memory.allocate(data_bytes + valid_words * 8 + 64, "groups");
      column.valid = reinterpret_cast<uint64_t*>(column.chunk.data() + data_bytes);
      std::memset(column.valid, 0xFF, valid_words * 8);
      columns.push_back(std::move(column));
    }
    emit_columns(groups.first(rows), info.keys.size(), emit_key, states, columns);
    rows = rows_that_fit(columns, rows);
    HostPiece& piece = pieces.emplace_back();
    piece.rows = static_cast<int64_t>(rows);
    for (EmittedColumn& column : columns) {
      ColumnView view;
      if (column.physical == PhysicalType::Text) view = make_heap(column, rows, memory, piece.chunks);
      view.physical = column.physical;
      if (column.physical != PhysicalType::Text) {
        view.encoding = Encoding::Plain;
        view.data = column.chunk.data();
      }
      if (column.has_nulls) view.validity = reinterpret_cast<const uint8_t*>(column.valid);
      piece.views.push_back(view);
      piece.chunks.push_back(std::move(column.chunk));
    }
    groups = groups.subspan(rows);
  }
  return pieces;
}

}  // namespace diptych::cpu
