// Sections whose indexes have no room as a whole: they run several times, each with another part of these.
#include "engine/cpu/cpu_engine.h"
#include "engine/cpu/join/ordered_section.h"

namespace diptych::cpu {

SectionProfile CpuEngine::run_passes(const Program& program, const Section& section, const TabletSource& rows,
                                     const NeededTablets& needed, IndexPasses& passes,
                                     std::vector<ThreadSinks>& threads) {
  SectionProfile profile;
  while (passes.next()) {
    SectionRun running(program, section, rows, needed, context_, memory_, indexes_.made(), rows_seen_);
    running.run(threads, -1);
    if (passes.count() == 1)
      profile = running.profile();
    else
      profile.add_pass(running.profile());
  }
  return profile;
}

SectionProfile CpuEngine::run_in_passes(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                        IndexPasses& passes, PartClock* clock) {
  const Section& section = section_at(address);
  const PartScope scope(clock, TimePart::Rows);
  return run_passes(program_, section, rows, needed, passes, threads_);
}

SectionProfile CpuEngine::run_in_order(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                       int64_t wanted, IndexPasses& passes, HostRowSet& result, PartClock* clock) {
  const OrderedSection ordered = make_ordered(program_, address, rows.row_count(), wanted,
                                              [&](int32_t index) { return passes.make(static_cast<size_t>(index)); });
  const auto row_set = static_cast<size_t>(ordered.row_set);
  std::vector<ThreadSinks> sinks = sinks_of_threads(ordered.program, context_, memory_);
  SectionProfile profile;
  {
    const PartScope scope(clock, TimePart::Rows);
    const Section collecting = prepare_section(ordered.program, ordered.collecting, prepared_.objects);
    profile = run_passes(ordered.program, collecting, rows, needed, passes, sinks);
    profile.address = address;
    for (JoinProfile& join : profile.joins) join.address -= ordered.moved;
  }
  passes.end();
  const PartScope scope(clock, TimePart::Merge);
  std::vector<std::unique_ptr<SortRun>> runs;
  sinks[0].make_sort_run(row_set);
  for (ThreadSinks& of_thread : sinks)
    if (of_thread.sort_runs[row_set]) runs.push_back(std::move(of_thread.sort_runs[row_set]));
  std::vector<ColumnDefinition> columns;
  for (const RegisterInfo& column : ordered.info().columns) columns.push_back({"", column.type});
  const auto sorted = sort_runs(ordered.info(), std::move(runs), columns, memory_, context_);
  const Section writing = prepare_section(ordered.program, ordered.writing, prepared_.objects);
  const NeededTablets all(*writing.cursor, *sorted);
  const RowIndexes no_indexes;
  SectionRun running(ordered.program, writing, *sorted, all, context_, memory_, no_indexes);
  std::vector<ThreadSinks> none = sinks_of_threads(ordered.program, context_, memory_);
  running.run(none, wanted);
  take_written(writing, running, result);
  return profile;
}

}  // namespace diptych::cpu
