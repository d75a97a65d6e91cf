#include "engine/cpu/join/built_indexes.h"

#include <algorithm>

#include "base/error.h"

namespace diptych::cpu {
namespace {

// Beside the indexes of a section, groups and rows that are sorted take up to a quarter of the memory limit, and what
// is written a 16th.
constexpr int64_t room_part = 2;
// Of the limit, what a section works with beside its indexes at least.
constexpr int64_t free_part = 8;

bool has(const std::vector<size_t>& these, size_t index) {
  return std::find(these.begin(), these.end(), index) != these.end();
}

}  // namespace

BuiltIndexes::BuiltIndexes(const Program& program, const ExecutionContext& context, const Memory& memory)
    : program_(program),
      context_(context),
      memory_(memory),
      room_(memory.budget() != nullptr ? static_cast<size_t>(memory.budget()->limit() / room_part)
                                       : static_cast<size_t>(INT64_MAX)),
      sources_(program.indexes.size()),
      text_bytes_(program.indexes.size()),
      made_(program.indexes.size()) {}

FormProfile BuiltIndexes::build(size_t index, std::shared_ptr<const TabletSource> rows) {
  sources_[index] = std::move(rows);
  const TabletSource& source = *sources_[index];
  const IndexInfo& info = program_.indexes[index];
  const std::vector<RegisterInfo>& columns = program_.row_sets[static_cast<size_t>(info.row_set)].columns;
  text_bytes_[index] = 0;
  for (size_t column = 0; column < columns.size(); ++column) {
    if (columns[column].physical != PhysicalType::Text) continue;
    // Keys are read twice, and stay as often.
    const size_t times = column < static_cast<size_t>(info.keys) ? 2 : 1;
    for (size_t tablet = 0; tablet < source.tablet_count(); ++tablet)
      text_bytes_[index] += times * static_cast<size_t>(source.encoded_bytes(tablet, column));
  }
  const size_t taken = bytes_made_but({index}) + text_bytes_[index];
  const auto make_whole = [&] { make(index, 0, source.row_count(), false, room_ - taken); };
  if (taken >= room_ || !has_memory_for(make_whole)) return {.form = "parts"};
  if (leaves_room()) return {.form = made_[index]->form(), .parts = 1};
  unmake(index);
  return {.form = "parts"};
}

void BuiltIndexes::forget(size_t index) {
  made_[index].reset();
  sources_[index].reset();
}

size_t BuiltIndexes::bytes_of(size_t index, int64_t rows, bool has_positions) const {
  const auto count = static_cast<size_t>(rows);
  const size_t texts =
      rows == 0 ? 0 : static_cast<size_t>(int128_t{text_bytes_[index]} * rows / sources_[index]->row_count());
  return RowIndex::table_bytes(program_, index, count, has_positions) + texts;
}

size_t BuiltIndexes::bytes_made_but(const std::vector<size_t>& these) const {
  size_t bytes = 0;
  for (size_t index = 0; index < made_.size(); ++index)
    if (is_made(index) && !has(these, index)) bytes += made_[index]->bytes() + text_bytes_[index];
  return bytes;
}

void BuiltIndexes::make(size_t index, int64_t begin, int64_t end, bool has_positions, size_t most_bytes) {
  unmake(index);
  IndexRows rows{sources_[index], slices_of(*sources_[index], begin, end), static_cast<int64_t>(most_bytes),
                 has_positions};
  made_[index] = std::make_unique<RowIndex>(program_, index, std::move(rows), memory_, context_);
}

bool BuiltIndexes::leaves_room() const {
  MemoryBudget* budget = memory_.budget();
  return budget == nullptr || memory_.has_room(budget->limit() / free_part);
}

void BuiltIndexes::unmake_all_but(const std::vector<size_t>& these) {
  for (size_t index = 0; index < made_.size(); ++index)
    if (!has(these, index)) unmake(index);
}

}  // namespace diptych::cpu
