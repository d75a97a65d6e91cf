// The CPU engine: runs the setup opcodes in order, and for each Parallel the section behind it.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "engine/cpu/groups/group_merge.h"
#include "engine/cpu/parallel.h"
#include "engine/cpu/section_run.h"
#include "engine/engine.h"
#include "engine/placement/placement.h"
#include "engine/shared_section.h"
#include "tablet/source_parts.h"

namespace diptych {
namespace cpu {
namespace {

class Run {
 public:
  Run(std::shared_ptr<const Program> program, const ExecutionContext& context)
      : program_(std::move(program)),
        context_(context),
        memory_(context, program_->hash_tables.size() + program_->sorters.size()),
        prepared_(*program_) {
    threads_.resize(static_cast<size_t>(std::max(1, context.threads)));
    for (ThreadSinks& sinks : threads_) {
      sinks.groups.resize(program_->hash_tables.size());
      sinks.sorters.resize(program_->sorters.size());
    }
    cursors_.resize(program_->cursors.size());
  }

  std::shared_ptr<const TabletSource> run() {
    std::vector<ColumnDefinition> columns;
    for (const ResultColumnInfo& column : program_->result_columns) columns.push_back({column.name, column.type});
    result_ = std::make_unique<BlockSource>(std::move(columns), memory_);
    const auto& instructions = program_->instructions;
    if (context_.profile != nullptr) context_.profile->prepare_nanoseconds = nanoseconds_since(created_);
    for (int32_t address = 0; instructions[static_cast<size_t>(address)].opcode != Opcode::Finish; ++address)
      address = execute(address);
    return finish();
  }

 private:
  // What a device has made of a section, and how.
  struct MadeRows {
    std::shared_ptr<const TabletSource> rows;
    FormProfile form;
  };

  // What this engine does of a section that a device works on, too.
  class Share final : public SectionPartner {
   public:
    Share(Run& run, const Section& section, const TabletSource& source, const NeededTablets& needed)
        : run_(run), section_(section), source_(source), needed_(needed) {}
    void work(TabletQueue& queue) override {
      running_.emplace(*run_.program_, section_, source_, needed_, run_.context_, run_.memory_);
      run_.make_sinks(section_, running_->threads());
      running_->run(run_.threads_, -1, &queue);
    }
    void forget() override {
      if (running_) running_->take_back_progress();
      running_.reset();
      for (ThreadSinks& sinks : run_.threads_) {
        for (const Step& step : section_.steps)
          if (step.instruction->opcode == Opcode::Aggregate)
            sinks.groups[static_cast<size_t>(step.instruction->p1)].reset();
      }
    }
    SectionRun& running() { return *running_; }
    // Adds totals and what is told of the run.
    void merge_into(SectionResult& result) {
      for (auto& [table, totals] : result.groups)
        totals = add_totals(*run_.program_, table, *totals, *run_.read_groups(static_cast<size_t>(table)).rows);
      const PartScope scope(run_.report_.clock, TimePart::Merge);
      const SectionProfile mine = running_->profile();
      result.profile.rows_in += mine.rows_in;
      result.profile.rows_out += mine.rows_out;
      result.profile.threads = mine.threads;
      result.profile.nanoseconds = std::max(result.profile.nanoseconds, mine.nanoseconds);
      result.profile.rows_on_cpu = mine.rows_in;
    }

   private:
    Run& run_;
    const Section& section_;
    const TabletSource& source_;
    const NeededTablets& needed_;
    std::optional<SectionRun> running_;
  };

  // Runs the setup opcode and returns the address of the last opcode that this has done.
  int32_t execute(int32_t address) {
    const Instruction& instruction = program_->instructions[static_cast<size_t>(address)];
    const auto cursor = static_cast<size_t>(instruction.p1);
    const auto object = static_cast<size_t>(instruction.p2);
    switch (instruction.opcode) {
      case Opcode::Table: cursors_[cursor] = program_->sources[object]; break;
      case Opcode::Limit: limit_ = number_of(instruction); break;
      case Opcode::Offset: offset_ = number_of(instruction); break;
      case Opcode::Parallel: time_section(address); return instruction.p3;
      case Opcode::Groups: run_operation(address, [&] { return open_groups(cursor, object); }); break;
      case Opcode::Sort: run_operation(address, [&] { return open_sorted(cursor, object); }); break;
      default: break;  // hash tables, sorters and result columns are there from the start
    }
    return address;
  }

  static int64_t nanoseconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  }

  // Runs an operation, which tells what it did.
  template <typename Operation>
  void run_operation(int32_t address, Operation&& operation) {
    const auto start = std::chrono::steady_clock::now();
    OperationProfile done = operation();
    if (context_.profile == nullptr) return;
    done.address = address;
    done.nanoseconds = nanoseconds_since(start);
    context_.profile->operations.push_back(std::move(done));
  }

  // Runs the section, and says where all its time went.
  void time_section(int32_t address) {
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

  static int64_t number_of(const Instruction& instruction) {
    if (const int64_t* number = std::get_if<int64_t>(&instruction.p4)) return *number;
    return static_cast<int64_t>(std::get<Value>(instruction.p4).as_integral());
  }

  void run_section(int32_t address) {
    const Instruction& instruction = program_->instructions[static_cast<size_t>(address)];
    const auto& source = cursors_[static_cast<size_t>(instruction.p1)];
    const Section section = prepare_section(*program_, address, prepared_);
    const auto* in_parts = dynamic_cast<const SourceInParts*>(source.get());
    if (in_parts == nullptr || rows_wanted() < 0 || !writes_rows(section)) return run_section(section, source);
    // Nothing is read any more once there are enough rows.
    const std::unique_ptr<PartReader> reader = in_parts->read_parts();
    bool is_first = true;
    while (rows_wanted() > 0) {
      check_cancelled(context_);
      std::shared_ptr<const TabletSource> part;
      {
        const PartScope scope(report_.clock, TimePart::Load);
        in_arena(context_.threads, [&] { part = reader->next(); });
      }
      if (part == nullptr) break;
      const size_t tablets = result_->tablet_count();
      if (std::exchange(is_first, false))
        run_section(section, part);
      else
        run_next_part(section, part);
      if (result_->has_codes(tablets)) result_->keep(part);
    }
  }

  void run_section(const Section& section, const std::shared_ptr<const TabletSource>& source) {
    const NeededTablets needed(*section.cursor, *source);
    PlacementNote note;
    if (run_on_device(section, source, needed, note)) return;
    has_fallen_back_ = has_fallen_back_ || !note.fallback.empty();
    bring_tables_here(section);
    const auto start = std::chrono::steady_clock::now();
    const auto rows = rows_here(section, source, note);
    const NeededTablets needed_here(*section.cursor, *rows);
    const SectionProfile profile = run_here(section, *rows, rows == source ? needed : needed_here);
    if (note.lesson != 0) context_.placement->learn(note, nanoseconds_since(start));
    if (context_.profile == nullptr) return;
    SectionProfile& shown = context_.profile->sections.emplace_back(profile);
    shown.fallback = std::move(note.fallback);
    shown.why = std::move(note.why);
    shown.estimate_nanoseconds = note.estimate_ns;
    shown.limit = note.limit;
  }

  // On the CPU as the first, since no device reads files.
  void run_next_part(const Section& section, const std::shared_ptr<const TabletSource>& part) {
    const SectionProfile profile = run_here(section, *part, NeededTablets(*section.cursor, *part));
    if (context_.profile != nullptr) context_.profile->sections.back().add(profile);
  }

  SectionProfile run_here(const Section& section, const TabletSource& source, const NeededTablets& needed) {
    SectionRun running(*program_, section, source, needed, context_, memory_);
    make_sinks(section, running.threads());
    {
      const PartScope scope(report_.clock, TimePart::Rows);
      running.run(threads_, rows_wanted());
    }
    const PartScope scope(report_.clock, TimePart::Merge);
    for (ResultPiece& piece : running.take_results()) result_->add(std::move(piece.tablet));
    return running.profile();
  }

  // Takes over what a device has made of the section; false when none has.
  bool run_on_device(const Section& section, const std::shared_ptr<const TabletSource>& source,
                     const NeededTablets& needed, PlacementNote& note) {
    if (context_.placement == nullptr) return false;
    if (has_begun(section)) {
      note.why = "its groups are here";
      return false;
    }
    Share share(*this, section, *source, needed);
    const SectionTask task{*program_, section.first - 1,
                           source,    rows_wanted(),
                           context_,  needed,
                           &share,    &open_tables_,
                           nullptr,   context_.profile != nullptr ? &report_ : nullptr};
    std::optional<SectionResult> made;
    {
      const PartScope scope(report_.clock, TimePart::Choose);
      made = context_.placement->run(task, *context_.choice, note);
    }
    if (!made) return false;
    const PartScope scope(report_.clock, TimePart::Merge);
    if (made->is_shared) share.merge_into(*made);
    std::vector<ResultPiece> pieces;
    if (made->is_shared) pieces = share.running().take_results();
    auto piece = pieces.begin();
    const auto add_pieces_before = [&](size_t tablet) {
      for (; piece != pieces.end() && share.running().tablet_of(*piece) < tablet; ++piece)
        result_->add(std::move(piece->tablet));
    };
    for (SectionRows& rows : made->rows) {
      add_pieces_before(rows.tablet);
      result_->keep(rows.owner);
      result_->add(rows.rows, std::move(rows.views), {});
    }
    add_pieces_before(SIZE_MAX);
    for (auto& [table, groups] : made->groups)
      device_groups_[table] = {std::move(groups), std::move(made->group_forms[table])};
    for (auto& [table, groups] : made->open) open_tables_[table] = std::move(groups);
    for (const int32_t table : tables_of(section)) fillers_[table].insert(section.first - 1);
    for (const Step& step : section.steps) {
      if (step.instruction->opcode == Opcode::SortRow)
        device_sorted_[step.instruction->p1] = {made->sorted, made->sort_form};
    }
    if (context_.profile != nullptr) context_.profile->sections.push_back(std::move(made->profile));
    return true;
  }

  static std::set<int32_t> tables_of(const Section& section) {
    std::set<int32_t> tables;
    for (const Step& step : section.steps) {
      if (step.instruction->opcode == Opcode::Aggregate) tables.insert(step.instruction->p1);
      if (step.instruction->opcode == Opcode::Group) tables.insert(step.instruction->p3);
    }
    return tables;
  }

  // Whether a section before has filled one of its hash tables here.
  bool has_begun(const Section& section) const {
    const std::set<int32_t> tables = tables_of(section);
    return std::any_of(threads_.begin(), threads_.end(), [&](const ThreadSinks& sinks) {
      return std::any_of(tables.begin(), tables.end(),
                         [&](int32_t table) { return sinks.groups[static_cast<size_t>(table)] != nullptr; });
    });
  }

  // The hash tables that the section goes on filling are to be here.
  void bring_tables_here(const Section& section) {
    for (const int32_t table : tables_of(section)) {
      if (open_tables_.contains(table)) fill_here(table);
    }
  }

  // What a device has made of the hash table is made again, and with it all that the same sections have filled.
  void fill_here(int32_t table) {
    std::set<int32_t> tables{table}, sections;
    for (size_t known = 0; known != tables.size();) {
      known = tables.size();
      for (const int32_t one : tables) sections.insert(fillers_[one].begin(), fillers_[one].end());
      for (const int32_t address : sections) tables.merge(tables_of(prepare_section(*program_, address, prepared_)));
    }
    for (const int32_t one : tables) {
      open_tables_.erase(one);
      device_groups_.erase(one);
      fillers_.erase(one);
    }
    for (const int32_t address : sections) {
      const Section again = prepare_section(*program_, address, prepared_);
      PlacementNote note;
      const auto rows = rows_here(again, cursors_[cursor_of(again)], note);
      const SectionProfile profile = run_here(again, *rows, NeededTablets(*again.cursor, *rows));
      if (context_.profile != nullptr) context_.profile->sections.emplace_back(profile).why = "again, on the CPU";
    }
  }

  size_t cursor_of(const Section& section) const {
    return static_cast<size_t>(program_->instructions[static_cast<size_t>(section.first) - 1].p1);
  }

  // The section's rows, in host memory.
  std::shared_ptr<const TabletSource> rows_here(const Section& section, std::shared_ptr<const TabletSource> source,
                                                PlacementNote& note) {
    if (context_.placement == nullptr) return source;
    std::vector<size_t> columns;
    for (const Step& step : section.steps) {
      if (step.instruction->opcode == Opcode::Column || step.instruction->opcode == Opcode::Code)
        columns.push_back(static_cast<size_t>(step.instruction->p2));
    }
    const QueueWork copied = Placement::work_of_rows(*source);
    const PartScope scope(report_.clock, TimePart::Fetch);
    const bool is_here = context_.placement->bring(*source, columns, *context_.choice, has_fallen_back_, note);
    report_.work.add(Placement::work_of_rows(*source).since(copied));
    if (is_here) return source;
    has_fallen_back_ = true;
    const size_t cursor = cursor_of(section);
    const int32_t table = tables_shown_.at(cursor);
    if (fillers_.contains(table)) fill_here(table);
    return cursors_[cursor] = read_groups(static_cast<size_t>(table), definitions_of(cursor)).rows;
  }

  // Rows of the result still wanted of the next section, -1: all.
  int64_t rows_wanted() const {
    return limit_ < 0 ? -1 : std::max<int64_t>(0, saturated(limit_, offset_) - result_->row_count());
  }
  static int64_t saturated(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

  // For the threads that run it.
  void make_sinks(const Section& section, int threads) {
    for (const Step& step : section.steps) {
      for (ThreadSinks& sinks : std::span(threads_).first(static_cast<size_t>(threads))) {
        if (step.instruction->opcode == Opcode::Aggregate)
          make_groups(sinks, static_cast<size_t>(step.instruction->p1));
        if (step.instruction->opcode == Opcode::Group) make_groups(sinks, static_cast<size_t>(step.instruction->p3));
        if (step.instruction->opcode == Opcode::SortRow) make_sorter(sinks, static_cast<size_t>(step.instruction->p1));
      }
    }
  }
  void make_groups(ThreadSinks& sinks, size_t table) {
    if (!sinks.groups[table]) sinks.groups[table] = std::make_unique<GroupTable>(program_->hash_tables[table], memory_);
  }
  void make_sorter(ThreadSinks& sinks, size_t sorter) {
    if (!sinks.sorters[sorter]) sinks.sorters[sorter] = std::make_unique<SortRun>(program_->sorters[sorter], memory_);
  }

  std::vector<ColumnDefinition> definitions_of(size_t cursor) const {
    std::vector<ColumnDefinition> columns;
    for (const RegisterInfo& column : program_->cursors[cursor].columns) columns.push_back({"", column.type});
    return columns;
  }

  OperationProfile open_groups(size_t cursor, size_t table) {
    OperationProfile done;
    done.what = "groups";
    done.estimated_rows = program_->hash_tables[table].expected_groups;
    tables_shown_[cursor] = static_cast<int32_t>(table);
    const MadeRows made = made_groups(static_cast<int32_t>(table));
    if (made.rows != nullptr) {
      cursors_[cursor] = made.rows;
      done.form = made.form;
    } else {
      const GroupsRead read = read_groups(table, definitions_of(cursor));
      cursors_[cursor] = read.rows;
      done.form = read.form;
    }
    done.rows = cursors_[cursor]->row_count();
    return done;
  }

  // What devices have made of a hash table; no rows: it is filled here.
  MadeRows made_groups(int32_t table) {
    if (const auto made = device_groups_.find(table); made != device_groups_.end()) return made->second;
    const auto open = open_tables_.find(table);
    if (open == open_tables_.end()) return {};
    PlacementNote note;
    MadeRows made{context_.placement->close(*open->second, *context_.choice, has_fallen_back_, note),
                  open->second->form()};
    if (made.rows != nullptr) {
      open_tables_.erase(open);
    } else {
      has_fallen_back_ = true;
      fill_here(table);
    }
    return made;
  }

  // Groups as rows, and how they were made: out of how many hash tables or runs of groups.
  struct GroupsRead {
    std::shared_ptr<BlockSource> rows;
    FormProfile form = {};
  };
  GroupsRead read_groups(size_t table, std::vector<ColumnDefinition> columns = {}) {
    make_groups(threads_[0], table);
    GroupsRead read{std::make_shared<BlockSource>(std::move(columns), memory_)};
    std::vector<std::unique_ptr<GroupTable>> tables;
    bool has_runs = false;
    for (ThreadSinks& sinks : threads_) {
      if (!sinks.groups[table]) continue;
      tables.push_back(std::move(sinks.groups[table]));
      has_runs = has_runs || tables.back()->has_runs();
    }
    GroupTable& first = *tables[0];
    if (first.is_hashed() && (tables.size() > 1 || has_runs)) {
      std::vector<RunsOfGroups> runs(tables.size());
      run_parallel(static_cast<int>(tables.size()), [&](int i) {
        const auto number = static_cast<size_t>(i);
        runs[number] = tables[number]->take_runs();
        tables[number].reset();
      });
      read.form.form = has_runs ? "runs" : "table";
      for (const RunsOfGroups& made : runs) read.form.parts += static_cast<int64_t>(made.runs.size());
      merge_groups(program_->hash_tables[table], runs, *read.rows, context_, memory_);
      return read;
    }
    for (size_t i = 1; i < tables.size(); ++i) first.merge(*tables[i]);
    for (GroupRows& piece : first.rows()) piece.add_to(*read.rows);
    const bool is_total = program_->hash_tables[table].keys.empty();
    read.form = {.form = first.is_hashed() ? "table"
                         : is_total        ? "total"
                                           : "dense",
                 .parts = static_cast<int64_t>(tables.size())};
    return read;
  }

  OperationProfile open_sorted(size_t cursor, size_t sorter) {
    OperationProfile done;
    done.what = "sort";
    if (const auto made = device_sorted_.find(static_cast<int32_t>(sorter)); made != device_sorted_.end()) {
      cursors_[cursor] = made->second.rows;
      done.form = made->second.form;
      done.rows = cursors_[cursor]->row_count();
      return done;
    }
    make_sorter(threads_[0], sorter);
    std::vector<std::unique_ptr<SortRun>> runs;
    for (ThreadSinks& sinks : threads_) {
      if (sinks.sorters[sorter]) runs.push_back(std::move(sinks.sorters[sorter]));
    }
    done.form = {.form = "runs", .parts = static_cast<int64_t>(runs.size())};
    cursors_[cursor] = sort_runs(program_->sorters[sorter], std::move(runs), definitions_of(cursor), memory_, context_);
    done.rows = cursors_[cursor]->row_count();
    return done;
  }

  std::shared_ptr<const TabletSource> finish() {
    const auto start = std::chrono::steady_clock::now();
    if (limit_ >= 0 || offset_ > 0) result_->cut(offset_, limit_);
    if (context_.profile != nullptr && context_.budget != nullptr)
      context_.profile->peak_bytes = context_.budget->peak();
    if (context_.profile != nullptr) context_.profile->spilled_bytes = memory_.spilled_bytes();
    // Codes in the result are of the sources' dictionaries.
    result_->keep(std::shared_ptr<const void>(program_));
    if (context_.profile != nullptr) context_.profile->finish_nanoseconds = nanoseconds_since(start);
    return std::shared_ptr<const TabletSource>(std::move(result_));
  }

  const std::chrono::steady_clock::time_point created_ = std::chrono::steady_clock::now();
  std::shared_ptr<const Program> program_;
  const ExecutionContext& context_;
  WorkReport report_;  // of the section at hand
  Memory memory_;
  PreparedObjects prepared_;
  std::vector<ThreadSinks> threads_;
  std::map<int32_t, MadeRows> device_groups_, device_sorted_;  // by hash table, by sorter
  OpenTables open_tables_;                                     // that devices have
  std::map<int32_t, std::set<int32_t>> fillers_;  // by hash table: sections that devices have filled it with
  std::map<size_t, int32_t> tables_shown_;        // by cursor, of groups
  bool has_fallen_back_ = false;                  // to the CPU
  std::vector<std::shared_ptr<const TabletSource>> cursors_;
  std::unique_ptr<BlockSource> result_;
  int64_t limit_ = -1, offset_ = 0;
};

}  // namespace
}  // namespace cpu

std::shared_ptr<const TabletSource> run_on_cpu(std::shared_ptr<const Program> program,
                                               const ExecutionContext& context) {
  std::optional<cpu::Run> run(std::in_place, std::move(program), context);
  std::shared_ptr<const TabletSource> result = run->run();
  const auto start = std::chrono::steady_clock::now();
  run.reset();
  if (context.profile != nullptr)
    context.profile->release_nanoseconds =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace diptych
