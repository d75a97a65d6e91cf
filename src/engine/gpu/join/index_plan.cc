#include "engine/gpu/join/index_plan.h"

#include <algorithm>
#include <span>

#include "base/error.h"
#include "engine/gpu/join/expected_matches.h"
#include "engine/gpu/join/index_record.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// A dense index has at most so many places a row, or so many in any case. Each takes a bit, and four bytes that are
// only touched where there is a row.
constexpr int64_t most_places_a_row = 64, least_places = 4194304, most_places = int64_t{1} << 31;
// Records lie at their keys' places where these are no more than so many a row, or as many bytes in any case: else more
// of them are fetched than have a row.
constexpr int64_t most_record_places_a_row = 4, least_record_bytes = 4194304;
constexpr int32_t most_keys = 8;

std::span<const RegisterInfo> keys_of(const Program& program, int32_t index) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  const auto& columns = program.row_sets[static_cast<size_t>(info.row_set)].columns;
  return {columns.data(), static_cast<size_t>(info.keys)};
}

bool may_be_dense(std::span<const RegisterInfo> keys) {
  return keys.size() == 1 && keys[0].has_range &&
         (keys[0].physical == PhysicalType::Int32 || keys[0].physical == PhysicalType::Int64);
}

// -1: more than a number of 64 bits counts.
int64_t places_of_key(const RegisterInfo& key) {
  const int128_t places = key.high - key.low + 1;
  return places > INT64_MAX ? -1 : std::max<int64_t>(static_cast<int64_t>(places), 1);
}

void choose_form(const Program& program, int64_t rows, KeysRepeat repeat, IndexShape& shape) {
  const auto keys = keys_of(program, shape.index);
  const IndexInfo& info = program.indexes[static_cast<size_t>(shape.index)];
  const int64_t places = may_be_dense(keys) ? places_of_key(keys[0]) : -1;
  const int64_t most = std::clamp(most_places_a_row * std::min(rows, most_places), least_places, most_places);
  shape.is_dense = places > 0 && places <= most;
  shape.has_filter = !shape.is_dense && is_mostly_missed(program, shape.index);
  const bool finds_one = info.finds_one || info.is_unique;
  shape.is_unique = finds_one || repeat != KeysRepeat::Often;
  shape.is_guessed = !finds_one && repeat == KeysRepeat::Never;
  if (!shape.is_dense) set_keys(program, shape);
  set_record(record_layout(program, shape.index), shape);
  shape.is_direct = shape.is_dense && shape.is_unique && shape.record_bytes > 0 &&
                    places <= std::max(most_record_places_a_row * rows, least_record_bytes / shape.record_bytes);
  // Where the build has yet to see whether keys repeat, it marks their places.
  shape.is_full =
      shape.is_dense && (info.is_unique || shape.is_guessed) && !info.finds_one && places == rows && !keys[0].nullable;
}

}  // namespace

int64_t places_of(const Program& program, int32_t index) { return places_of_key(keys_of(program, index)[0]); }

IndexShape planned_index(const Program& program, int32_t index, int64_t rows, KeysRepeat repeat) {
  const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
  IndexShape shape;
  shape.index = index;
  shape.has_keys = info.keys > 0;
  shape.is_fetched = is_fetched(program, index);
  shape.is_unique = info.finds_one;
  if (shape.has_keys) choose_form(program, rows, repeat, shape);
  for (const RegisterInfo& column : program.row_sets[static_cast<size_t>(info.row_set)].columns)
    shape.has_nulls.push_back(column.nullable);
  return shape;
}

void add_expected_indexes(const Program& program, int32_t address, SectionShape& shape) {
  for (const int32_t index : indexes_met(program, address)) {
    const IndexInfo& info = program.indexes[static_cast<size_t>(index)];
    if (why_not_built(program, index).empty())
      shape.indexes.push_back(planned_index(program, index, info.expected_rows, info.repeat));
  }
}

std::string why_not_built(const Program& program, int32_t index) {
  const auto keys = keys_of(program, index);
  if (keys.size() > static_cast<size_t>(most_keys)) return "an index of more than 8 keys";
  const auto is_interval = [](const RegisterInfo& key) { return key.physical == PhysicalType::Interval; };
  return std::any_of(keys.begin(), keys.end(), is_interval) ? "intervals as keys of an index" : "";
}

std::string why_not_met(const Program& program, int32_t index) {
  std::string reason = why_not_built(program, index);
  for (size_t address = 0; reason.empty() && address < program.instructions.size(); ++address) {
    if (program.instructions[address].opcode != Opcode::Parallel) continue;
    const std::set<int32_t> met = indexes_met(program, static_cast<int32_t>(address));
    if (!met.contains(index)) continue;
    for (const int32_t other : met)
      if (reason.empty()) reason = why_not_built(program, other);
  }
  return reason;
}

std::string why_no_join(const Program& program, int32_t address) {
  std::set<int32_t> indexes = indexes_met(program, address);
  for (const Instruction& at : opcodes_of(program, address)) {
    if (at.opcode != Opcode::Append) continue;
    const RowSetInfo& row_set = program.row_sets[static_cast<size_t>(at.p1)];
    if (row_set.keys.empty() && is_cut(row_set)) return appends_cut;
    if (const int32_t index = index_over(program, at.p1); index >= 0) indexes.insert(index);
  }
  for (const int32_t index : indexes)
    if (std::string reason = why_not_met(program, index); !reason.empty()) return reason;
  return "";
}

}  // namespace diptych::gpu
