#include "engine/cpu/cpu_engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/cpu/groups/dense_merge.h"
#include "engine/cpu/groups/group_merge.h"
#include "engine/cpu/join/ordered_section.h"
#include "engine/run/parallel.h"
#include "engine/run/shared_section.h"
#include "program/section_contents.h"

namespace diptych::cpu {

// What this engine does of a section that a device works on, too. Mostly that is nothing, so the section is only
// prepared once there is work.
class CpuEngine::Part final : public HostPart {
 public:
  Part(CpuEngine& engine, int32_t address, const TabletSource& source, const NeededTablets& needed, PartClock* clock)
      : engine_(engine), address_(address), source_(source), needed_(needed), clock_(clock) {}
  void work(TabletQueue& queue) override {
    const Section& section = engine_.section_at(address_);
    running_.emplace(engine_.program_, section, source_, needed_, engine_.context_, engine_.memory_,
                     engine_.indexes_.made());
    running_->run(engine_.threads_, -1, &queue);
  }
  void forget() override {
    if (running_) running_->take_back_progress();
    running_.reset();
    for (ThreadSinks& sinks : engine_.threads_) {
      for (const Step& step : engine_.section_at(address_).steps)
        if (step.instruction->opcode == Opcode::Aggregate)
          sinks.groups[static_cast<size_t>(step.instruction->p1)].reset();
    }
  }
  void merge_into(SectionResult& result) override {
    for (auto& [table, totals] : result.groups)
      totals.rows =
          add_totals(engine_.program_, table, *totals.rows, *engine_.take_groups(table, {}).rows, engine_.memory_);
    const PartScope scope(clock_, TimePart::Merge);
    const SectionProfile mine = running_->profile();
    result.profile.rows_in += mine.rows_in;
    result.profile.rows_out += mine.rows_out;
    result.profile.add(mine.joins);
    result.profile.threads = mine.threads;
    result.profile.nanoseconds = std::max(result.profile.nanoseconds, mine.nanoseconds);
    result.profile.rows_on_cpu = mine.rows_in;
    pieces_ = running_->take_results();
  }
  void add_rows_before(size_t tablet, HostRowSet& result) override {
    for (; next_piece_ < pieces_.size() && running_->tablet_of(pieces_[next_piece_]) < tablet; ++next_piece_)
      result.add(std::move(pieces_[next_piece_].rows));
  }

 private:
  CpuEngine& engine_;
  const int32_t address_;
  const TabletSource& source_;
  const NeededTablets& needed_;
  PartClock* clock_;
  std::optional<SectionRun> running_;
  std::vector<MorselPiece> pieces_;
  size_t next_piece_ = 0;
};

// Of dictionaries that grow, look-ups are made anew.
CpuEngine::Prepared& CpuEngine::prepared_of(const Program& program, const ExecutionContext& context,
                                            std::unique_ptr<Prepared>& own) {
  if (context.preparation == nullptr || !program.lookups.empty()) {
    own = std::make_unique<Prepared>(program);
    return *own;
  }
  if (*context.preparation == nullptr) *context.preparation = std::make_unique<Prepared>(program);
  return static_cast<Prepared&>(**context.preparation);
}

CpuEngine::CpuEngine(const Program& program, const ExecutionContext& context, const Memory& memory)
    : program_(program),
      context_(context),
      memory_(memory),
      prepared_(prepared_of(program, context, own_prepared_)),
      threads_(sinks_of_threads(program, context, memory)),
      indexes_(program, context, memory) {}

const Section& CpuEngine::section_at(int32_t address) {
  std::map<int32_t, Section>& sections = prepared_.sections;
  auto found = sections.find(address);
  if (found == sections.end())
    found = sections.emplace(address, prepare_section(program_, address, prepared_.objects)).first;
  return found->second;
}

SectionProfile CpuEngine::run_section(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                      int64_t wanted, HostRowSet& result, PartClock* clock) {
  const bool keeps = keeps_order(program_, address);
  const std::set<int32_t> met = indexes_met(program_, address);
  IndexPasses passes(indexes_, {met.begin(), met.end()}, keeps);
  SectionProfile profile;
  if (!passes.make_any())
    profile = run_once(section_at(address), rows, needed, wanted, result, clock);
  else if (keeps)
    profile = run_in_order(address, rows, needed, wanted, passes, result, clock);
  else
    profile = run_in_passes(address, rows, needed, passes, clock);
  rows_seen_ += rows.row_count();
  return profile;
}

SectionProfile CpuEngine::run_once(const Section& section, const TabletSource& rows, const NeededTablets& needed,
                                   int64_t wanted, HostRowSet& result, PartClock* clock) {
  SectionRun running(program_, section, rows, needed, context_, memory_, indexes_.made(), rows_seen_);
  {
    const PartScope scope(clock, TimePart::Rows);
    running.run(threads_, wanted);
  }
  const PartScope scope(clock, TimePart::Merge);
  take_written(section, running, result);
  return running.profile();
}

std::unique_ptr<HostPart> CpuEngine::part_of(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                             PartClock* clock) {
  return std::make_unique<Part>(*this, address, rows, needed, clock);
}

void CpuEngine::take_written(const Section& section, SectionRun& run, HostRowSet& result) {
  for (MorselPiece& piece : run.take_results()) result.add(std::move(piece.rows));
  for (const Step& step : section.steps) {
    if (step.instruction->opcode != Opcode::Append || is_sorted(static_cast<size_t>(step.instruction->p1))) continue;
    const int32_t row_set = step.instruction->p1;
    for (MorselPiece& piece : run.take_rows(row_set)) appended_[row_set].push_back(std::move(piece.rows));
  }
}

bool CpuEngine::has_groups(int32_t hash_table) const {
  return std::any_of(threads_.begin(), threads_.end(), [&](const ThreadSinks& sinks) {
    return sinks.groups[static_cast<size_t>(hash_table)] != nullptr;
  });
}

void CpuEngine::forget_groups(int32_t hash_table) {
  for (ThreadSinks& sinks : threads_) sinks.groups[static_cast<size_t>(hash_table)].reset();
}

FormProfile CpuEngine::build_index(int32_t index, std::shared_ptr<const TabletSource> rows) {
  return indexes_.build(static_cast<size_t>(index), std::move(rows));
}

void CpuEngine::forget_index(int32_t index) { indexes_.forget(static_cast<size_t>(index)); }

MadeRows CpuEngine::take_groups(int32_t hash_table, std::vector<ColumnDefinition> columns) {
  const auto number = static_cast<size_t>(hash_table);
  const HashTableInfo& info = program_.hash_tables[number];
  if (!has_groups(hash_table)) threads_[0].make_groups(number);
  const auto rows = std::make_shared<HostRowSet>(std::move(columns), memory_);
  std::vector<std::unique_ptr<GroupTable>> tables;
  bool has_runs = false;
  for (ThreadSinks& sinks : threads_) {
    if (!sinks.groups[number]) continue;
    tables.push_back(std::move(sinks.groups[number]));
    has_runs = has_runs || tables.back()->has_runs();
  }
  const auto parts = static_cast<int64_t>(tables.size());
  std::vector<HostPiece> pieces;
  if (!tables[0]->is_hashed()) {
    for (HostPiece& piece : merge_dense(std::move(tables), context_.threads)) rows->add(std::move(piece));
    return {rows, {.form = info.keys.empty() ? "total" : "dense", .parts = parts}};
  }
  // Without memory for its rows at once, a table becomes a run, too.
  if (parts == 1 && !has_runs) has_runs = !has_memory_for([&] { pieces = tables[0]->rows(); });
  if (parts > 1 || has_runs) {
    std::vector<RunsOfGroups> runs(tables.size());
    run_parallel(static_cast<int>(tables.size()), [&](int i) {
      const auto table = static_cast<size_t>(i);
      runs[table] = tables[table]->take_runs();
      tables[table].reset();
    });
    FormProfile form{.form = has_runs ? "runs" : "table"};
    for (const RunsOfGroups& made : runs) form.parts += static_cast<int64_t>(made.run_count());
    merge_groups(info, runs, *rows, context_, memory_);
    return {rows, std::move(form)};
  }
  for (HostPiece& piece : pieces) rows->add(std::move(piece));
  return {rows, {.form = "table", .parts = parts}};
}

MadeRows CpuEngine::take_rows(int32_t row_set, std::vector<ColumnDefinition> columns) {
  const auto number = static_cast<size_t>(row_set);
  if (!is_sorted(number)) {
    const auto rows = std::make_shared<HostRowSet>(std::move(columns), memory_);
    for (StoredPiece& piece : appended_[row_set]) rows->add(std::move(piece));
    appended_.erase(row_set);
    cut_rows(program_.row_sets[number], *rows);
    return {rows, {}};
  }
  threads_[0].make_sort_run(number);
  std::vector<std::unique_ptr<SortRun>> runs;
  for (ThreadSinks& sinks : threads_) {
    if (sinks.sort_runs[number]) runs.push_back(std::move(sinks.sort_runs[number]));
  }
  const auto parts = static_cast<int64_t>(runs.size());
  const auto rows = sort_runs(program_.row_sets[number], std::move(runs), std::move(columns), memory_, context_);
  cut_rows(program_.row_sets[number], *rows);
  return {rows, {.form = "runs", .parts = parts}};
}

}  // namespace diptych::cpu
