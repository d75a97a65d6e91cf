#include "engine/cpu/join/row_index.h"

#include <algorithm>

#include "engine/cpu/join/row_index_builder.h"

namespace diptych::cpu {
namespace {

std::vector<RegisterInfo> keys_of(const Program& program, size_t number) {
  const IndexInfo& info = program.indexes[number];
  const std::vector<RegisterInfo>& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  std::vector<RegisterInfo> keys(columns.begin(), columns.begin() + info.keys);
  for (RegisterInfo& key : keys) key.nullable = false;  // rows with NULL are left out
  return keys;
}

// What sections fetch, and positions as the last column.
PackedRows payload_of(const Program& program, size_t number, bool has_positions) {
  std::vector<RegisterInfo> columns = program.row_sets[static_cast<size_t>(program.indexes[number].row_set)].columns;
  std::vector<bool> fetched(columns.size());
  for (const Instruction& at : program.instructions)
    if (at.opcode == Opcode::Fetch && static_cast<size_t>(at.p3) == number)
      fetched[static_cast<size_t>(std::get<int64_t>(at.p4))] = true;
  if (has_positions) {
    columns.push_back({PhysicalType::Int64, Type{TypeId::BigInt}, false});
    fetched.push_back(true);
  }
  return {columns, fetched};
}

}  // namespace

size_t RowIndex::table_bytes(const Program& program, size_t number, size_t rows, bool has_positions) {
  return RowIndexBuilder::table_bytes(keys_of(program, number), payload_of(program, number, has_positions), rows);
}

RowIndex::RowIndex(const Program& program, size_t number, IndexRows rows, const Memory& memory,
                   const ExecutionContext& context)
    : keys_(keys_of(program, number)),
      finds_one_(program.indexes[number].finds_one && !rows.has_positions),
      payload_(payload_of(program, number, rows.has_positions)),
      rows_(std::move(rows)) {
  const auto row_set = static_cast<size_t>(program.indexes[number].row_set);
  RowIndexBuilder(*this, program.row_sets[row_set].columns, memory, context).run();
}

bool RowIndex::has_any(size_t key, int128_t low, int128_t high) const {
  const Bounds& bounds = bounds_[key];
  if (is_empty_) return false;
  if (!bounds.is_known) return true;
  low = std::max<int128_t>(low, bounds.low);
  high = std::min<int128_t>(high, bounds.high);
  if (low > high || !bits_.is_open()) return low <= high;
  return bits_.has_any(static_cast<int64_t>(low), static_cast<int64_t>(high));
}

void RowIndex::find(Frame& frame, int first_key, RowMask& rows, LookUp& look_up, int64_t* found) const {
  if (is_empty_) return rows.clear();
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Slot& key = frame.slot(first_key + static_cast<int>(i));
    for (int w = 0; key.valid != nullptr && w < frame.words(); ++w) rows.words[w] &= key.valid[w];
  }
  if (keys_.empty()) {
    std::fill_n(found, block_rows, 0);
  } else if (bits_.is_open()) {
    if (find_codes(frame, first_key, rows, found)) return;
    const Slot& key = frame.read(first_key);
    const PlaceLoop loop = key.physical == PhysicalType::Int32 ? loops().places_i32 : loops().places_i64;
    loop(rows.words, frame.words(), key.values, bits_.frame(), found);
  } else {
    if (!look_up.keys || look_up.keys->rows.size() < block_rows * table_->layout().words())
      look_up.keys.emplace(table_->layout());
    if (table_->is_whole())
      return table_->find_whole(frame.read(first_key), frame.words(), *look_up.keys, rows, found, look_up.filters);
    look_up.keys->write(table_->layout(), frame, first_key, rows);
    table_->find(*look_up.keys, found, look_up.filters);
    for (int w = 0; w < frame.words(); ++w)
      for (uint64_t left = rows.words[w]; left != 0; left &= left - 1)
        if (found[w * 64 + std::countr_zero(left)] < 0) rows.words[w] &= ~(left & -left);
  }
}

// A key is base + code, so that a code's number is code - (low - base).
bool RowIndex::find_codes(const Frame& frame, int key, RowMask& rows, int64_t* found) const {
  const ColumnState* const column = frame.undecoded_whole(key);
  if (column == nullptr) return false;
  const int width = column->view.width;
  // Of codes as wide as the loops' numbers the key's own 32 bits must bound how far they are apart.
  if (width != 1 && width != 2 && (width != 4 || keys_[0].physical != PhysicalType::Int32)) return false;
  PlaceFrame places = bits_.frame();
  const int128_t low = int128_t{places.low} - column->view.base;
  if (low >= int128_t{1} << 8 * width || low + static_cast<int128_t>(places.span) <= 0) {
    rows.clear();
    return true;
  }
  places.low = static_cast<int64_t>(low);
  const PlaceLoop loop = loops().places_codes[width / 2];
  loop(rows.words, frame.words(), {column->codes, static_cast<size_t>(64 * width)}, places, found);
  return true;
}

}  // namespace diptych::cpu
