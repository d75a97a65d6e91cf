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
// For each there are words in a launch's parameters.
constexpr size_t most_record_columns = 16;

}  // namespace

std::vector<bool> fetched_columns(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  std::vector<bool> fetched(program.row_sets[static_cast<size_t>(info.row_set)].columns.size(), false);
  for (const Instruction& at : program.instructions)
    if (at.opcode == Opcode::Fetch && at.p3 == index) fetched[static_cast<size_t>(std::get<int64_t>(at.p4))] = true;
  return fetched;
}

PackedLayout record_layout(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  const std::vector<bool> fetched = fetched_columns(program, index);
  PackedLayout layout(columns, fetched);
  const bool is_short = layout.bytes() <= most_record_bytes && layout.columns().size() <= most_record_columns;
  return is_short ? layout : PackedLayout(columns, std::vector<bool>(columns.size(), false));
}

int64_t row_stride(size_t bytes) {
  if (bytes <= sector_bytes) return static_cast<int64_t>(std::bit_ceil(bytes));
  return static_cast<int64_t>((bytes + sector_bytes - 1) / sector_bytes * sector_bytes);
}

void set_record(const PackedLayout& layout, size_t before, IndexShape& shape) {
  shape.fields.assign(layout.column_count(), {});
  shape.record_bytes = shape.record_load_bytes = 0;
  if (layout.bytes() == 0) return;
  constexpr size_t widest_load = 16;
  const auto stride = static_cast<size_t>(row_stride(before + layout.bytes()));
  shape.record_bytes = static_cast<int>(stride);
  shape.record_load_bytes = static_cast<int>(std::min(widest_load, size_t{1} << std::countr_zero(before | stride)));
  for (const size_t column : layout.columns()) {
    const PackedLayout::Field& from = layout.field(column);
    IndexShape::Field& field = shape.fields[column];
    field.width = static_cast<int>(from.width);
    field.at = static_cast<int>(from.at);
    if (from.nullable) field.null_bit = static_cast<int>(from.null_at) * 8 + from.null_bit;
  }
}

}  // namespace diptych::gpu
