#include "engine/gpu/join/index_record.h"

#include <algorithm>
#include <bit>

#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// A sector of memory: what one access brings.
constexpr size_t sector_bytes = 32;
// A wider record takes as many accesses as its columns would.
constexpr size_t most_record_bytes = 96;
// In a launch's parameters: words that are always there, and those of a column of the keys or a field.
constexpr size_t other_words = 20, field_words = 4;

// Of the keys' columns, their fields, and those of a record: of 16 bytes there are two, and NULLs are one.
size_t count_fields(const std::vector<RegisterInfo>& columns, size_t keys, const PackedLayout& layout) {
  size_t fields = 0;
  for (size_t key = 0; key < keys; ++key) fields += columns[key].physical == PhysicalType::Int128 ? 3 : 2;
  for (const size_t column : layout.columns()) {
    const PackedLayout::Field& field = layout.field(column);
    fields += (field.width > 8 ? 2U : 1U) + (field.nullable ? 1U : 0U);
  }
  return fields;
}

// By column of the index's row set.
std::vector<bool> fetched_columns(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  std::vector<bool> fetched(program.row_sets[static_cast<size_t>(info.row_set)].columns.size(), false);
  for (const Instruction& at : program.instructions)
    if (at.opcode == Opcode::Fetch && at.p3 == index) fetched[static_cast<size_t>(std::get<int64_t>(at.p4))] = true;
  return fetched;
}

}  // namespace

PackedLayout record_layout(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  PackedLayout layout(columns, fetched_columns(program, index));
  const size_t words = other_words + field_words * count_fields(columns, static_cast<size_t>(info.keys), layout);
  const bool is_short = layout.bytes() <= most_record_bytes && words <= most_parameter_words;
  return is_short ? layout : PackedLayout(columns, std::vector<bool>(columns.size(), false));
}

namespace {

int stride_of(size_t bytes) {
  if (bytes <= sector_bytes) return static_cast<int>(std::bit_ceil(bytes));
  return static_cast<int>((bytes + sector_bytes - 1) / sector_bytes * sector_bytes);
}

int load_of(int stride) {
  constexpr int widest_load = 16;
  return std::min(widest_load, 1 << std::countr_zero(static_cast<unsigned>(stride)));
}

int key_width(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int32:
    case PhysicalType::Bool: return 4;
    case PhysicalType::Int128: return 16;
    default: return 8;
  }
}

int bytes_of_keys(const IndexShape& shape) {
  return shape.key_fields.empty() ? 0 : shape.key_fields.back().at + shape.key_fields.back().width;
}

}  // namespace

void set_keys(const Program& program, IndexShape& shape) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(shape.index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  int bytes = 0;
  for (size_t key = 0; key < static_cast<size_t>(info.keys); ++key) {
    const int width = key_width(columns[key].physical), alignment = std::min(width, 8);
    const int at = (bytes + alignment - 1) / alignment * alignment;
    shape.key_fields.push_back({.width = width, .at = at});
    bytes = at + width;
  }
  shape.key_bytes = stride_of(static_cast<size_t>(bytes));
  shape.key_load_bytes = load_of(shape.key_bytes);
}

void set_record(const PackedLayout& layout, IndexShape& shape) {
  shape.fields.assign(layout.column_count(), {});
  if (layout.bytes() == 0) return;
  const int alignment = static_cast<int>(layout.alignment()), keys = shape.is_unique ? bytes_of_keys(shape) : 0;
  const int before = (keys + alignment - 1) / alignment * alignment;
  shape.record_bytes = stride_of(static_cast<size_t>(before) + layout.bytes());
  shape.record_load_bytes = load_of(shape.record_bytes);
  for (const size_t column : layout.columns()) {
    const PackedLayout::Field& from = layout.field(column);
    IndexShape::Field& field = shape.fields[column];
    field.width = static_cast<int>(from.width);
    field.at = before + static_cast<int>(from.at);
    if (from.nullable) field.null_bit = (before + static_cast<int>(from.null_at)) * 8 + from.null_bit;
  }
  if (keys == 0) return;
  shape.key_bytes = shape.record_bytes;
  shape.key_load_bytes = shape.record_load_bytes;
}

}  // namespace diptych::gpu
