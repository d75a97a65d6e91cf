#include "engine/run/walk.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <variant>

#include "base/error.h"
#include "engine/run/parallel.h"
#include "program/idle_sections.h"
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
  row_sets_.resize(program_->row_sets.size());
}

std::shared_ptr<const TabletSource> Walk::run(std::chrono::steady_clock::time_point started) {
  std::vector<ColumnDefinition> columns;
  for (const ResultColumnInfo& column : program_->result_columns) columns.push_back({column.name, column.type});
  result_ = std::make_unique<HostRowSet>(std::move(columns), memory_);
  const auto& instructions = program_->instructions;
  if (context_.profile != nullptr) context_.profile->prepare_nanoseconds = nanoseconds_since(started);
  for (int32_t address = 0; instructions[static_cast<size_t>(address)].opcode != Opcode::Finish; ++address)
    address = execute(address);
  return finish();
}

int32_t Walk::execute(int32_t address) {
  const Instruction& instruction = program_->instructions[static_cast<size_t>(address)];
  const int32_t first = instruction.p1, second = instruction.p2;
  switch (instruction.opcode) {
    case Opcode::Table:
      cursors_[static_cast<size_t>(first)].table = program_->sources[static_cast<size_t>(second)];
      break;
    case Opcode::Limit: limit_ = number_of(instruction); break;
    case Opcode::Offset: offset_ = number_of(instruction); break;
    case Opcode::Parallel: time_section(address); return instruction.p3;
    case Opcode::Groups: run_operation(address, [&] { return make_groups(first, second); }); break;
    case Opcode::SortRows: run_operation(address, [&] { return sort_rows(first); }); break;
    case Opcode::Build: run_operation(address, [&] { return build(first, second); }); break;
    case Opcode::Rows: open_rows(static_cast<size_t>(first), second); break;
    case Opcode::Drop: drop(first); break;
    default: break;  // hash tables, empty row sets and result columns are there from the start
  }
  return address;
}

template <typename Operation>
void Walk::run_operation(int32_t address, Operation&& operation) {
  const auto start = std::chrono::steady_clock::now();
  OperationProfile done = operation();
  done.work = std::exchange(report_, {}).work;
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

void Walk::start_sections(int32_t address) {
  if (context_.devices == nullptr || context_.choice->device == "cpu") return;
  if (!started_.empty() || rows_wanted() == 0) return;
  const std::vector<IndexFeeder> feeders = index_feeders(*program_, address);
  if (feeders.size() < 2) return;
  for (const IndexFeeder& feeder : feeders) {
    const auto& source = program_->sources[static_cast<size_t>(feeder.source)];
    clock_ = PartClock(TimePart::Choose);
    Ahead& ahead = ahead_.try_emplace(feeder.address, source, cursor_info_of(feeder.address)).first->second;
    ahead.report.clock = &clock_;
    const SectionTask task{*program_, feeder.address,
                           source,    rows_wanted(),
                           context_,  ahead.needed,
                           nullptr,   &open_tables_,
                           nullptr,   context_.profile != nullptr ? &ahead.report : nullptr,
                           &placed_,  &device_indexes_,
                           &started_};
    const bool is_started = context_.devices->start(task, *context_.choice);
    ahead.parts.add(clock_.times());
    if (!is_started) return;
  }
}

void Walk::time_section(int32_t address) {
  end_timing(address);
  start_sections(address);
  clock_ = PartClock(TimePart::Prepare);
  report_ = {{}, context_.profile != nullptr ? &clock_ : nullptr};
  const size_t sections = context_.profile != nullptr ? context_.profile->sections.size() : 0;
  run_section(address);
  started_.erase(address);
  WorkReport report = std::exchange(report_, {});
  PartTimes times = clock_.times();
  if (const auto ahead = ahead_.extract(address); !ahead.empty()) {
    report.work.add(ahead.mapped().report.work);
    times.add(ahead.mapped().parts);
  }
  if (context_.profile == nullptr) return;
  // None was begun where no rows are wanted.
  if (context_.profile->sections.size() == sections) {
    context_.profile->sections.emplace_back().address = address;
    context_.profile->sections.back().engine = "cpu";
  }
  for (size_t i = sections; i < context_.profile->sections.size(); ++i) add_estimates(context_.profile->sections[i]);
  SectionProfile& shown = context_.profile->sections.back();
  shown.work.add(report.work);
  shown.parts.add(times);
  shown.total_nanoseconds = times.sum();
}

void Walk::add_estimates(SectionProfile& section) const {
  const CursorInfo& cursor = cursor_info_of(section.address);
  section.estimated_rows_in = cursor.expected_rows;
  section.estimated_rows_out = cursor.expected_rows_out;
  for (JoinProfile& join : section.joins) {
    const int32_t index = program_->instructions[static_cast<size_t>(join.address)].p3;
    join.estimated_rows = program_->indexes[static_cast<size_t>(index)].expected_pairs;
  }
}

void Walk::run_section(int32_t address) {
  // Not the row set's own, which may be given other rows while the section runs.
  const std::shared_ptr<const TabletSource> source = rows_of(cursor_of(address));
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
  const CursorInfo& cursor = cursor_info_of(address);
  const KeyConditions keys = key_conditions(address);
  if (keys.met_by_none) started_.erase(address);
  const NeededTablets needed(cursor, *source, keys);
  PlacementNote note;
  if (run_on_device(address, source, needed, note)) return;
  has_fallen_back_ = has_fallen_back_ || !note.fallback.empty();
  bring_tables_here(address);
  bring_indexes_here(address);
  const auto rows = rows_here(cursor_of(address), columns_read(*program_, address), source, note);
  const NeededTablets needed_here(cursor, *rows, keys);
  const SectionProfile profile = run_here(address, *rows, rows == source ? needed : needed_here);
  if (context_.profile == nullptr) return;
  SectionProfile& shown = context_.profile->sections.emplace_back(profile);
  shown.fallback = std::move(note.fallback);
  shown.why = std::move(note.why);
  shown.estimate_nanoseconds = note.estimate_ns;
  shown.limit = note.limit;
}

void Walk::run_next_part(int32_t address, const std::shared_ptr<const TabletSource>& part) {
  const NeededTablets needed(cursor_info_of(address), *part, key_conditions(address));
  const SectionProfile profile = run_here(address, *part, needed);
  if (context_.profile != nullptr) context_.profile->sections.back().add(profile);
}

KeyConditions Walk::key_conditions(int32_t address) const {
  KeyConditions conditions;
  conditions.met_by_none = is_idle(*program_, address, empty_indexes_);
  for (const ColumnAsKey& known : columns_as_keys(*program_, address)) {
    const BuiltKeys* keys = host_.built_keys(known.index);
    if (keys == nullptr) continue;
    const auto has_key = [keys, key = known.key](int128_t low, int128_t high) { return keys->has_any(key, low, high); };
    conditions.columns.push_back({known.column, has_key});
  }
  return conditions;
}

SectionProfile Walk::run_here(int32_t address, const TabletSource& source, const NeededTablets& needed) {
  // What is needed is found while all indexes are there that it depends on: passes over parts let go of some.
  needed.spans();
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
      *program_, address,          source,        rows_wanted(), context_,
      needed,    part.get(),       &open_tables_, nullptr,       context_.profile != nullptr ? &report_ : nullptr,
      &placed_,  &device_indexes_, &started_};
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
  for (ResultPiece& piece : made.rows) {
    if (made.is_shared) part.add_rows_before(piece.tablet, *result_);
    result_->add(std::move(piece.rows));
  }
  if (made.is_shared) part.add_rows_before(SIZE_MAX, *result_);
  for (auto& [table, groups] : made.groups) device_groups_[table] = std::move(groups);
  for (auto& [table, groups] : made.open) open_tables_[table] = std::move(groups);
  for (const int32_t table : tables_filled(*program_, address)) fillers_[table].insert(address);
  for (const Instruction& at : opcodes_of(*program_, address))
    if (at.opcode == Opcode::Append) device_rows_[at.p1] = made.appended;
  if (context_.profile != nullptr) context_.profile->sections.push_back(std::move(made.profile));
}

// ---- operations

OperationProfile Walk::make_groups(int32_t number, int32_t table) {
  row_set(number).hash_table = table;
  MadeRows made = made_groups(table);
  if (made.rows == nullptr) made = take_here(number);
  row_set(number).rows = made.rows;
  OperationProfile done;
  done.what = "groups";
  done.estimated_rows = program_->hash_tables[static_cast<size_t>(table)].expected_groups;
  done.form = std::move(made.form);
  done.rows = made.rows->row_count();
  made.rows.reset();
  move_rows(number);
  return done;
}

MadeRows Walk::made_groups(int32_t table) {
  if (auto made = device_groups_.extract(table); !made.empty()) return std::move(made.mapped());
  const auto open = open_tables_.find(table);
  if (open == open_tables_.end()) return {};
  PlacementNote note;
  OpenGroups& groups = *open->second;
  MadeRows made;
  const bool is_made = context_.devices->attempt(groups.device(), *context_.choice, has_fallen_back_, note,
                                                 [&] { made.rows = groups.close(); });
  if (is_made) {
    made.form = groups.form();
    open_tables_.erase(open);
  } else {
    has_fallen_back_ = true;
    fill_here(table);
  }
  return made;
}

OperationProfile Walk::sort_rows(int32_t number) {
  auto on_device = device_rows_.extract(number);
  MadeRows made = on_device.empty() ? take_here(number) : std::move(on_device.mapped());
  row_set(number).rows = made.rows;
  const RowSetInfo& info = program_->row_sets[static_cast<size_t>(number)];
  if (!on_device.empty() && info.offset > 0) {
    const auto copy = copy_here(number);
    cut_rows(info, *copy);
    row_set(number).rows = made.rows = copy;
  }
  OperationProfile done;
  done.what = "sort";
  done.estimated_rows = info.limit < 0 ? info.expected_rows : std::min(info.expected_rows, info.limit);
  done.form = std::move(made.form);
  done.rows = made.rows->row_count();
  made.rows.reset();
  move_rows(number);
  return done;
}

void Walk::complete_rows(int32_t number) {
  if (row_set(number).rows != nullptr) return;
  const auto on_device = device_rows_.extract(number);
  row_set(number).rows = on_device.empty() ? take_here(number).rows : on_device.mapped().rows;
  move_rows(number);
}

void Walk::open_rows(size_t cursor, int32_t number) {
  cursors_[cursor].row_set = number;
  complete_rows(number);
}

OperationProfile Walk::build(int32_t index, int32_t number) {
  complete_rows(number);
  OperationProfile done;
  done.what = "build";
  done.rows = row_set(number).rows->row_count();
  done.form = build_there(index, row_set(number).rows) ? device_indexes_.at(index)->form() : build_here(index);
  done.estimated_rows = program_->indexes[static_cast<size_t>(index)].expected_rows;
  if (const BuiltKeys* keys = host_.built_keys(index); keys != nullptr && keys->is_empty())
    empty_indexes_.insert(index);
  return done;
}

// On a device; false: the CPU has to.
bool Walk::build_there(int32_t index, const std::shared_ptr<const RowSet>& rows) {
  if (context_.devices == nullptr) return false;
  PlacementNote note;
  WorkReport* report = context_.profile != nullptr ? &report_ : nullptr;
  const IndexTask task{*program_, index, rows, context_, report, rows_wanted(), &placed_};
  auto built = context_.devices->build(task, has_fallen_back_, note);
  if (built == nullptr && rows->device() != nullptr) has_fallen_back_ = true;
  const bool is_built = built != nullptr;
  if (is_built) device_indexes_[index] = std::move(built);
  return is_built;
}

// A device may have been at it when the operation ended.
void Walk::note_build_time(int32_t index) {
  const auto built = device_indexes_.find(index);
  if (context_.profile == nullptr || built == device_indexes_.end()) return;
  for (OperationProfile& operation : context_.profile->operations) {
    const Instruction& at = program_->instructions[static_cast<size_t>(operation.address)];
    if (at.opcode == Opcode::Build && at.p1 == index)
      operation.kernel_nanoseconds = built->second->kernel_nanoseconds();
  }
}

void Walk::drop(int32_t number) {
  if (const int32_t index = index_over(*program_, number); index >= 0) {
    note_build_time(index);
    device_indexes_.erase(index);
    if (host_indexes_.erase(index) > 0) host_.forget_index(index);
  }
  row_set(number).rows.reset();
  if (row_set(number).hash_table >= 0) host_.forget_groups(row_set(number).hash_table);
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
  for (const auto& source : program_->sources) result_->keep(source);
  if (context_.profile != nullptr) context_.profile->finish_nanoseconds = nanoseconds_since(start);
  return std::shared_ptr<const TabletSource>(std::move(result_));
}

int64_t Walk::rows_wanted() const {
  return limit_ < 0 ? -1 : std::max<int64_t>(0, saturated_sum(limit_, offset_) - result_->row_count());
}

const Walk::Cursor& Walk::cursor_of(int32_t address) const {
  return cursors_[static_cast<size_t>(program_->instructions[static_cast<size_t>(address)].p1)];
}

const CursorInfo& Walk::cursor_info_of(int32_t address) const {
  return program_->cursors[static_cast<size_t>(program_->instructions[static_cast<size_t>(address)].p1)];
}

std::shared_ptr<const TabletSource> Walk::rows_of(const Cursor& cursor) const {
  if (cursor.row_set >= 0) return row_set(cursor.row_set).rows;
  return cursor.table;
}

std::vector<ColumnDefinition> Walk::definitions_of(int32_t number) const {
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : program_->row_sets[static_cast<size_t>(number)].columns)
    columns.push_back({"", column.type});
  return columns;
}

}  // namespace diptych
