// The CPU engine in a run: sections opcode by opcode over blocks of rows, on the calling thread or on all cores. What
// sinks collect is kept a thread until an operation puts it together.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/cpu/join/index_passes.h"
#include "engine/cpu/section_run.h"
#include "engine/run/host_engine.h"

namespace diptych::cpu {

class CpuEngine final : public HostEngine {
 public:
  // All arguments outlive it.
  CpuEngine(const Program& program, const ExecutionContext& context, const Memory& memory);

  SectionProfile run_section(int32_t address, const TabletSource& rows, const NeededTablets& needed, int64_t wanted,
                             HostRowSet& result, PartClock* clock) override;
  std::unique_ptr<HostPart> part_of(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                    PartClock* clock) override;
  bool has_groups(int32_t hash_table) const override;
  MadeRows take_groups(int32_t hash_table, std::vector<ColumnDefinition> columns) override;
  void forget_groups(int32_t hash_table) override;
  MadeRows take_rows(int32_t row_set, std::vector<ColumnDefinition> columns) override;
  FormProfile build_index(int32_t index, std::shared_ptr<const TabletSource> rows) override;
  const BuiltKeys* built_keys(int32_t index) const override { return indexes_.whole(static_cast<size_t>(index)); }
  void forget_index(int32_t index) override;

 private:
  class Part;
  struct Prepared final : KeptPreparation {
    explicit Prepared(const Program& program) : objects(program) {}
    const PreparedObjects objects;
    std::map<int32_t, Section> sections;  // by address
  };
  // own: where it is made unless it is kept for other runs.
  static Prepared& prepared_of(const Program& program, const ExecutionContext& context, std::unique_ptr<Prepared>& own);
  // Made ready when it is first asked for: a section may run several times, over parts of a file or again.
  const Section& section_at(int32_t address);
  bool is_sorted(size_t row_set) const { return !program_.row_sets[row_set].keys.empty(); }
  SectionProfile run_once(const Section& section, const TabletSource& rows, const NeededTablets& needed, int64_t wanted,
                          HostRowSet& result, PartClock* clock);
  // ---- section_passes.cc: where indexes are made for passes
  SectionProfile run_in_passes(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                               IndexPasses& passes, PartClock* clock);
  // The same where the order counts of the rows that the section writes.
  SectionProfile run_in_order(int32_t address, const TabletSource& rows, const NeededTablets& needed, int64_t wanted,
                              IndexPasses& passes, HostRowSet& result, PartClock* clock);
  SectionProfile run_passes(const Program& program, const Section& section, const TabletSource& rows,
                            const NeededTablets& needed, IndexPasses& passes, std::vector<ThreadSinks>& threads);
  // Takes over what the section has written to the result, or appended to row sets that are not sorted.
  void take_written(const Section& section, SectionRun& run, HostRowSet& result);

  const Program& program_;
  const ExecutionContext& context_;
  const Memory& memory_;
  std::unique_ptr<Prepared> own_prepared_;
  Prepared& prepared_;
  std::vector<ThreadSinks> threads_;
  BuiltIndexes indexes_;
  std::map<int32_t, std::vector<StoredPiece>> appended_;  // by row set that is not sorted
  int64_t rows_seen_ = 0;                                 // by sections before, from those that have appended any
};

}  // namespace diptych::cpu
