// The CPU engine in a run: sections opcode by opcode over blocks of rows, on the calling thread or on all cores. What
// sinks collect is kept a thread until an operation puts it together.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/cpu/section_run.h"
#include "engine/run/host_engine.h"

namespace diptych::cpu {

class CpuEngine final : public HostEngine {
 public:
  // All arguments outlive it.
  CpuEngine(const Program& program, const ExecutionContext& context, const Memory& memory);

  SectionProfile run_section(int32_t address, const TabletSource& rows, const NeededTablets& needed, int64_t wanted,
                             BlockSource& result, PartClock* clock) override;
  std::unique_ptr<HostPart> part_of(int32_t address, const TabletSource& rows, const NeededTablets& needed,
                                    PartClock* clock) override;
  bool has_groups(int32_t hash_table) const override;
  MadeRows take_groups(int32_t hash_table, std::vector<ColumnDefinition> columns) override;
  MadeRows take_sorted(int32_t sorter, std::vector<ColumnDefinition> columns) override;

 private:
  class Part;
  // Made ready when it is first asked for: a section may run several times, over parts of a file or again.
  const Section& section_at(int32_t address);
  // For the threads that run it.
  void make_sinks(const Section& section, int threads);
  void make_groups(ThreadSinks& sinks, size_t hash_table);
  void make_sorter(ThreadSinks& sinks, size_t sorter);

  const Program& program_;
  const ExecutionContext& context_;
  const Memory& memory_;
  const PreparedObjects prepared_;
  std::map<int32_t, Section> sections_;  // by address
  std::vector<ThreadSinks> threads_;
};

}  // namespace diptych::cpu
