// What of a walk is here, on the host, and what devices have: indexes, tables and rows are brought, or made again.
#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "engine/run/walk.h"
#include "program/section_contents.h"

namespace diptych {

bool Walk::has_begun(int32_t address) const {
  const std::set<int32_t> tables = tables_filled(*program_, address);
  return std::any_of(tables.begin(), tables.end(), [&](int32_t table) { return host_.has_groups(table); });
}

void Walk::bring_tables_here(int32_t address) {
  for (const int32_t table : tables_filled(*program_, address)) {
    if (open_tables_.contains(table)) fill_here(table);
  }
}

void Walk::bring_indexes_here(int32_t address) {
  for (const int32_t index : indexes_met(*program_, address))
    if (!host_indexes_.contains(index)) build_here(index);
}

// Without what a device may have built.
FormProfile Walk::build_here(int32_t index) {
  const int32_t number = program_->indexes[static_cast<size_t>(index)].row_set;
  complete_rows(number);
  const auto rows = all_rows_here(number);
  device_indexes_.erase(index);
  host_indexes_.insert(index);
  return host_.build_index(index, rows);
}

void Walk::fill_here(int32_t table) { make_again({{table}, {}, {}}); }

void Walk::make_again(Again wanted) {
  const Again again = needed_again(std::move(wanted));
  for (const int32_t one : again.tables) {
    open_tables_.erase(one);
    device_groups_.erase(one);
    fillers_.erase(one);
  }
  for (const int32_t address : again.sections) run_again(address);
  for (const int32_t dropped : again.row_sets) drop(dropped);
}

Walk::Again Walk::needed_again(Again again) const {
  for (size_t known = 0; known != again.tables.size() + again.sections.size();) {
    known = again.tables.size() + again.sections.size();
    for (const int32_t one : again.tables)
      if (const auto fillers = fillers_.find(one); fillers != fillers_.end())
        again.sections.insert(fillers->second.begin(), fillers->second.end());
    for (const int32_t address : std::set<int32_t>(again.sections)) {
      again.tables.merge(tables_filled(*program_, address));
      for (const int32_t number : row_sets_met(address)) {
        if (row_set(number).rows != nullptr) continue;
        again.row_sets.insert(number);
        const int32_t groups_of = row_set(number).hash_table;
        if (groups_of >= 0) again.tables.insert(groups_of);
        again.sections.merge(groups_of >= 0 ? fillers_before(address, groups_of) : appenders_before(address, number));
      }
    }
  }
  return again;
}

// Those that the section's cursor is on, and that the indexes are over which its rows meet.
std::set<int32_t> Walk::row_sets_met(int32_t address) const {
  std::set<int32_t> numbers;
  if (const int32_t number = cursor_of(address).row_set; number >= 0) numbers.insert(number);
  for (const int32_t index : indexes_met(*program_, address))
    numbers.insert(program_->indexes[static_cast<size_t>(index)].row_set);
  return numbers;
}

std::set<int32_t> Walk::fillers_before(int32_t address, int32_t table) const {
  std::set<int32_t> sections;
  for (int32_t at = 0; at < address; ++at)
    if (program_->instructions[static_cast<size_t>(at)].opcode == Opcode::Parallel &&
        tables_filled(*program_, at).contains(table))
      sections.insert(at);
  return sections;
}

std::set<int32_t> Walk::appenders_before(int32_t address, int32_t row_set) const {
  std::set<int32_t> sections;
  int32_t parallel = -1;
  for (int32_t at = 0; at < address; ++at) {
    const Instruction& instruction = program_->instructions[static_cast<size_t>(at)];
    if (instruction.opcode == Opcode::Parallel) parallel = at;
    if (instruction.opcode == Opcode::Append && instruction.p1 == row_set) sections.insert(parallel);
  }
  return sections;
}

void Walk::run_again(int32_t address) {
  const Cursor& cursor = cursor_of(address);
  if (cursor.row_set >= 0 && row_set(cursor.row_set).rows == nullptr)
    row_set(cursor.row_set).rows = take_here(cursor.row_set).rows;
  bring_indexes_here(address);
  PlacementNote note;
  const auto rows = rows_here(cursor, columns_read(*program_, address), rows_of(cursor), note);
  const SectionProfile profile =
      run_here(address, *rows, NeededTablets(cursor_info_of(address), *rows, key_conditions(address)));
  if (context_.profile != nullptr) context_.profile->sections.emplace_back(profile).why = "again, on the CPU";
}

std::shared_ptr<const TabletSource> Walk::rows_here(const Cursor& cursor, std::span<const size_t> columns,
                                                    std::shared_ptr<const TabletSource> source, PlacementNote& note) {
  const RowSet* rows = row_set_of(*source);
  if (rows == nullptr || rows->device() == nullptr) return source;
  const PartScope scope(clock(), TimePart::Fetch);
  // Without the clock: all of it is fetching.
  WorkReport brought;
  const bool is_here = context_.devices->attempt(*rows->device(), *context_.choice, has_fallen_back_, note,
                                                 [&] { rows->bring(columns, &brought); });
  report_.work.add(brought.work);
  if (is_here) return source;
  has_fallen_back_ = true;
  const int32_t table = row_set(cursor.row_set).hash_table;
  if (table < 0)
    make_again({{}, appenders_before(static_cast<int32_t>(program_->instructions.size()), cursor.row_set), {}});
  else if (fillers_.contains(table))
    fill_here(table);
  return row_set(cursor.row_set).rows = take_here(cursor.row_set).rows;
}

MadeRows Walk::take_here(int32_t number) {
  const int32_t table = row_set(number).hash_table;
  return table >= 0 ? host_.take_groups(table, definitions_of(number))
                    : host_.take_rows(number, definitions_of(number));
}

std::shared_ptr<const TabletSource> Walk::all_rows_here(int32_t number) {
  std::vector<size_t> all(program_->row_sets[static_cast<size_t>(number)].columns.size());
  std::iota(all.begin(), all.end(), size_t{0});
  PlacementNote note;
  return rows_here({nullptr, number}, all, row_set(number).rows, note);
}

std::shared_ptr<HostRowSet> Walk::copy_here(int32_t number) { return copy_rows(*all_rows_here(number), memory_); }

// Where there is no room for a copy beside them, they stay where they were made.
void Walk::move_rows(int32_t number) {
  if (context_.row_place == RowPlace::Made) return;
  std::shared_ptr<HostRowSet> copy;
  try {
    copy = copy_here(number);
  } catch (const Error& error) {
    if (error.state() != SqlState::out_of_memory) throw;
    return;
  }
  if (context_.row_place == RowPlace::File) copy->move_to_file();
  row_set(number).rows = copy;
}

}  // namespace diptych
