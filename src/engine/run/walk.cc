#include "engine/run/walk.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "engine/run/parallel.h"
#include "program/section_contents.h"
#include "tablet/source_parts.h"

namespace diptych {
namespace {

int64_t number_of(const Instruction& instruction) {
  if (const int64_t* number = std::get_if<int64_t>(&instruction.p4)) return *number;
  return static_cast<int64_t>(std::get<Value>(instruction.p4).as_integral());
}

int64_t saturated_sum(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

}  // namespace

Walk::Walk(std::shared_ptr<const Program> program, const ExecutionContext& context, const Memory& memory,
           HostEngine& host)
    : program_(std::move(program)), context_(context), memory_(memory), host_(host) {
  cursors_.resize(program_->cursors.size());
}

std::shared_ptr<const TabletSource> Walk::run(std::chrono::steady_clock::time_point started) {
  std::vector<ColumnDefinition> columns;
  for (const ResultColumnInfo& column : program_->result_columns) columns.push_back({column.name, column.type});
  result_ = std::make_unique<BlockSource>(std::move(columns), memory_);
  const auto& instructions = program_->instructions;
  if (context_.profile != nullptr) context_.profile->prepare_nanoseconds = nanoseconds_since(started);
  for (int32_t address = 0; instructions[static_cast<size_t>(address)].opcode != Opcode::Finish; ++address)
    address = execute(address);
  return finish();
}

int32_t Walk::execute(int32_t address) {
  const Instruction& instruction = program_->instructions[static_cast<size_t>(address)];
  const auto cursor = static_cast<size_t>(instruction.p1);
  switch (instruction.opcode) {
    case Opcode::Table: cursors_[cursor] = program_->sources[static_cast<size_t>(instruction.p2)]; break;
    case Opcode::Limit: limit_ = number_of(instruction); break;
    case Opcode::Offset: offset_ = number_of(instruction); break;
    case Opcode::Parallel: time_section(address); return instruction.p3;
    case Opcode::Groups: run_operation(address, [&] { return open_groups(cursor, instruction.p2); }); break;
    case Opcode::Sort: run_operation(address, [&] { return open_sorted(cursor, instruction.p2); }); break;
    default: break;  // hash tables, sorters and result columns are there from the start
  }
  return address;
}

template <typename Operation>
void Walk::run_operation(int32_t address, Operation&& operation) {
  const auto start = std::chrono::steady_clock::now();
  OperationProfile done = operation();
  if (context_.profile == nullptr) return;
  done.address = address;
  done.nanoseconds = nanoseconds_since(start);
  context_.profile->operations.push_back(std::move(done));
}

// ---- sections

void Walk::end_timing(int32_t next) {
  if (placed_ != nullptr && timed_ >= 0) placed_->add_time(timed_, nanoseconds_since(timed_from_));
  timed_ = next;
  timed_from_ = std::chrono::steady_clock::now();
}

void Walk::time_section(int32_t address) {
  end_timing(address);
  PartClock clock(TimePart::Prepare);
  report_ = {{}, context_.profile != nullptr ? &clock : nullptr};
  const size_t sections = context_.profile != nullptr ? context_.profile->sections.size() : 0;
  run_section(address);
  const WorkReport report = std::exchange(report_, {});
  if (context_.profile == nullptr) return;
  // None was begun where no rows are wanted.
  if (context_.profile->sections.size() == sections) {
    context_.profile->sections.emplace_back().address = address;
    context_.profile->sections.back().engine = "cpu";
  }
  SectionProfile& shown = context_.profile->sections.back();
  shown.work.add(report.work);
  const PartTimes times = clock.times();
  shown.parts.add(times);
  shown.total_nanoseconds = times.sum();
}

void Walk::run_section(int32_t address) {
  // Not the cursor's own, which may be given other rows while the section runs.
  const std::shared_ptr<const TabletSource> source = cursors_[cursor_of(address)];
  const auto* in_parts = dynamic_cast<const SourceInParts*>(source.get());
  if (in_parts == nullptr || rows_wanted() < 0 || !writes_result(*program_, address))
    return run_section(address, source);
  // Nothing is read any more once there are enough rows.
  const std::unique_ptr<PartReader> reader = in_parts->read_parts();
  bool is_first = true;
  while (rows_wanted() > 0) {
    check_cancelled(context_);
    std::shared_ptr<const TabletSource> part;
    {
      const PartScope scope(clock(), TimePart::Load);
      in_arena(context_.threads, [&] { part = reader->next(); });
    }
    if (part == nullptr) break;
    const size_t tablets = result_->tablet_count();
    if (std::exchange(is_first, false))
      run_section(address, part);
    else
      run_next_part(address, part);
    if (result_->has_codes(tablets)) result_->keep(part);
  }
}

void Walk::run_section(int32_t address, const std::shared_ptr<const TabletSource>& source) {
  const CursorInfo& cursor = program_->cursors[cursor_of(address)];
  const NeededTablets needed(cursor, *source);
  PlacementNote note;
  if (run_on_device(address, source, needed, note)) return;
  has_fallen_back_ = has_fallen_back_ || !note.fallback.empty();
  bring_tables_here(address);
  const auto rows = rows_here(cursor_of(address), columns_read(*program_, address), source, note);
  const NeededTablets needed_here(cursor, *rows);
  const SectionProfile profile = run_here(address, *rows, rows == source ? needed : needed_here);
  if (context_.profile == nullptr) return;
  SectionProfile& shown = context_.profile->sections.emplace_back(profile);
  shown.fallback = std::move(note.fallback);
  shown.why = std::move(note.why);
  shown.estimate_nanoseconds = note.estimate_ns;
  shown.limit = note.limit;
}

void Walk::run_next_part(int32_t address, const std::shared_ptr<const TabletSource>& part) {
  const NeededTablets needed(program_->cursors[cursor_of(address)], *part);
  const SectionProfile profile = run_here(address, *part, needed);
  if (context_.profile != nullptr) context_.profile->sections.back().add(profile);
}

SectionProfile Walk::run_here(int32_t address, const TabletSource& source, const NeededTablets& needed) {
  return host_.run_section(address, source, needed, rows_wanted(), *result_, clock());
}

bool Walk::run_on_device(int32_t address, const std::shared_ptr<const TabletSource>& source,
                         const NeededTablets& needed, PlacementNote& note) {
  if (context_.devices == nullptr) return false;
  if (has_begun(address)) {
    note.why = "its groups are here";
    return false;
  }
  const std::unique_ptr<HostPart> part = host_.part_of(address, *source, needed, clock());
  const SectionTask task{
      *program_, address,    source,        rows_wanted(), context_,
      needed,    part.get(), &open_tables_, nullptr,       context_.profile != nullptr ? &report_ : nullptr,
      &placed_};
  std::optional<SectionResult> made;
  {
    const PartScope scope(clock(), TimePart::Choose);
    made = context_.devices->run(task, *context_.choice, note);
  }
  if (!made) return false;
  const PartScope scope(clock(), TimePart::Merge);
  take_over(address, std::move(*made), *part);
  return true;
}

void Walk::take_over(int32_t address, SectionResult made, HostPart& part) {
  if (made.is_shared) part.merge_into(made);
  for (SectionRows& rows : made.rows) {
    if (made.is_shared) part.add_rows_before(rows.tablet, *result_);
    result_->add(rows.rows, std::move(rows.views), std::move(rows.owner));
  }
  if (made.is_shared) part.add_rows_before(SIZE_MAX, *result_);
  for (auto& [table, groups] : made.groups)
    device_groups_[table] = {std::move(groups), std::move(made.group_forms[table])};
  for (auto& [table, groups] : made.open) open_tables_[table] = std::move(groups);
  for (const int32_t table : tables_filled(*program_, address)) fillers_[table].insert(address);
  for (const Instruction& at : opcodes_of(*program_, address))
    if (at.opcode == Opcode::SortRow) device_sorted_[at.p1] = {made.sorted, made.sort_form};
  if (context_.profile != nullptr) context_.profile->sections.push_back(std::move(made.profile));
}

// ---- what is here, and what devices have

bool Walk::has_begun(int32_t address) const {
  const std::set<int32_t> tables = tables_filled(*program_, address);
  return std::any_of(tables.begin(), tables.end(), [&](int32_t table) { return host_.has_groups(table); });
}

void Walk::bring_tables_here(int32_t address) {
  for (const int32_t table : tables_filled(*program_, address)) {
    if (open_tables_.contains(table)) fill_here(table);
  }
}

void Walk::fill_here(int32_t table) {
  std::set<int32_t> tables{table}, sections;
  for (size_t known = 0; known != tables.size();) {
    known = tables.size();
    for (const int32_t one : tables) sections.insert(fillers_[one].begin(), fillers_[one].end());
    for (const int32_t address : sections) tables.merge(tables_filled(*program_, address));
  }
  for (const int32_t one : tables) {
    open_tables_.erase(one);
    device_groups_.erase(one);
    fillers_.erase(one);
  }
  for (const int32_t address : sections) {
    PlacementNote note;
    const size_t cursor = cursor_of(address);
    const auto rows = rows_here(cursor, columns_read(*program_, address), cursors_[cursor], note);
    const SectionProfile profile = run_here(address, *rows, NeededTablets(program_->cursors[cursor], *rows));
    if (context_.profile != nullptr) context_.profile->sections.emplace_back(profile).why = "again, on the CPU";
  }
}

std::shared_ptr<const TabletSource> Walk::rows_here(size_t cursor, std::span<const size_t> columns,
                                                    std::shared_ptr<const TabletSource> source, PlacementNote& note) {
  if (context_.devices == nullptr) return source;
  const QueueWork copied = context_.devices->work_of_rows(*source);
  const PartScope scope(clock(), TimePart::Fetch);
  const bool is_here = context_.devices->bring(*source, columns, *context_.choice, has_fallen_back_, note);
  report_.work.add(context_.devices->work_of_rows(*source).since(copied));
  if (is_here) return source;
  has_fallen_back_ = true;
  const int32_t table = tables_shown_.at(cursor);
  if (fillers_.contains(table)) fill_here(table);
  return cursors_[cursor] = host_.take_groups(table, definitions_of(cursor)).rows;
}

void Walk::move_rows(size_t cursor) {
  if (context_.row_place == RowPlace::Made) return;
  std::vector<size_t> all(program_->cursors[cursor].columns.size());
  std::iota(all.begin(), all.end(), size_t{0});
  PlacementNote note;
  const auto copy = copy_rows(*rows_here(cursor, all, cursors_[cursor], note), memory_);
  if (context_.row_place == RowPlace::File) copy->move_to_file();
  cursors_[cursor] = copy;
}

// ---- operations

OperationProfile Walk::open_groups(size_t cursor, int32_t table) {
  tables_shown_[cursor] = table;
  MadeRows made = made_groups(table);
  if (made.rows == nullptr) made = host_.take_groups(table, definitions_of(cursor));
  cursors_[cursor] = made.rows;
  OperationProfile done;
  done.what = "groups";
  done.estimated_rows = program_->hash_tables[static_cast<size_t>(table)].expected_groups;
  done.form = std::move(made.form);
  done.rows = made.rows->row_count();
  move_rows(cursor);
  return done;
}

MadeRows Walk::made_groups(int32_t table) {
  if (const auto made = device_groups_.find(table); made != device_groups_.end()) return made->second;
  const auto open = open_tables_.find(table);
  if (open == open_tables_.end()) return {};
  PlacementNote note;
  MadeRows made{context_.devices->close(*open->second, *context_.choice, has_fallen_back_, note), open->second->form()};
  if (made.rows != nullptr) {
    open_tables_.erase(open);
  } else {
    has_fallen_back_ = true;
    fill_here(table);
  }
  return made;
}

OperationProfile Walk::open_sorted(size_t cursor, int32_t sorter) {
  const auto on_device = device_sorted_.find(sorter);
  MadeRows made =
      on_device != device_sorted_.end() ? on_device->second : host_.take_sorted(sorter, definitions_of(cursor));
  cursors_[cursor] = made.rows;
  OperationProfile done;
  done.what = "sort";
  done.form = std::move(made.form);
  done.rows = made.rows->row_count();
  move_rows(cursor);
  return done;
}

std::shared_ptr<const TabletSource> Walk::finish() {
  const auto start = std::chrono::steady_clock::now();
  end_timing(-1);
  if (placed_ != nullptr && !has_fallen_back_) placed_->end();
  if (limit_ >= 0 || offset_ > 0) result_->cut(offset_, limit_);
  if (context_.row_place == RowPlace::File) result_->move_to_file();
  if (context_.profile != nullptr && context_.budget != nullptr) context_.profile->peak_bytes = context_.budget->peak();
  if (context_.profile != nullptr) context_.profile->spilled_bytes = memory_.spilled_bytes();
  // Codes in the result are of the sources' dictionaries.
  result_->keep(std::shared_ptr<const void>(program_));
  if (context_.profile != nullptr) context_.profile->finish_nanoseconds = nanoseconds_since(start);
  return std::shared_ptr<const TabletSource>(std::move(result_));
}

int64_t Walk::rows_wanted() const {
  return limit_ < 0 ? -1 : std::max<int64_t>(0, saturated_sum(limit_, offset_) - result_->row_count());
}

size_t Walk::cursor_of(int32_t address) const {
  return static_cast<size_t>(program_->instructions[static_cast<size_t>(address)].p1);
}

std::vector<ColumnDefinition> Walk::definitions_of(size_t cursor) const {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : program_->cursors[cursor].columns) columns.push_back({"", column.type});
  return columns;
}

}  // namespace diptych
