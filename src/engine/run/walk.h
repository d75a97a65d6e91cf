// Walks a program: runs its setup opcodes in order and for each Parallel the section behind it, and owns what cursors
// show.
//
//   Table, Limit, Offset    noted
//   Parallel .. Converge    a device, if the section was placed on one; else the CPU, which first brings here what the
//                           section reads or goes on filling
//   Groups, Sort            what a device has made stays there until somebody here reads it
//
// Where a device fails at what it has made before, the CPU runs the sections again that had made it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "engine/run/context.h"
#include "engine/run/host_engine.h"
#include "engine/run/section_runner.h"

namespace diptych {

// One thread walks. Everything that is handed over outlives the walk.
class Walk {
 public:
  Walk(std::shared_ptr<const Program> program, const ExecutionContext& context, const Memory& memory, HostEngine& host);

  // The result; once. started: of the run, for EXPLAIN ANALYZE. Errors: those of rows, 53200, 57014.
  std::shared_ptr<const TabletSource> run(std::chrono::steady_clock::time_point started);

 private:
  // Runs the setup opcode and returns the address of the last opcode that this has done.
  int32_t execute(int32_t address);
  // Runs an operation, which tells what it did.
  template <typename Operation>
  void run_operation(int32_t address, Operation&& operation);
  // Runs the section, and says where all its time went.
  void time_section(int32_t address);
  // The section at hand, and the operations behind it, are through; the next one's, if there is one.
  void end_timing(int32_t next);
  void run_section(int32_t address);
  void run_section(int32_t address, const std::shared_ptr<const TabletSource>& source);
  // On the CPU as the first, since no device reads files.
  void run_next_part(int32_t address, const std::shared_ptr<const TabletSource>& part);
  SectionProfile run_here(int32_t address, const TabletSource& source, const NeededTablets& needed);
  // Takes over what a device has made of the section; false when none has.
  bool run_on_device(int32_t address, const std::shared_ptr<const TabletSource>& source, const NeededTablets& needed,
                     PlacementNote& note);
  void take_over(int32_t address, SectionResult made, HostPart& part);

  // Whether a section before has filled one of its hash tables here.
  bool has_begun(int32_t address) const;
  // The hash tables that the section goes on filling are to be here.
  void bring_tables_here(int32_t address);
  // What a device has made of the hash table is made again, and with it all that the same sections have filled.
  void fill_here(int32_t table);
  // These columns of a cursor's rows, in host memory.
  std::shared_ptr<const TabletSource> rows_here(size_t cursor, std::span<const size_t> columns,
                                                std::shared_ptr<const TabletSource> source, PlacementNote& note);
  // Has what an operation shows where the context asks for it.
  void move_rows(size_t cursor);
  OperationProfile open_groups(size_t cursor, int32_t table);
  OperationProfile open_sorted(size_t cursor, int32_t sorter);
  // What devices have made of a hash table; no rows: it is filled here.
  MadeRows made_groups(int32_t table);
  std::shared_ptr<const TabletSource> finish();

  // Rows of the result still wanted of the next section, -1: all.
  int64_t rows_wanted() const;
  size_t cursor_of(int32_t address) const;
  std::vector<ColumnDefinition> definitions_of(size_t cursor) const;
  // When nobody wants to know the time: null.
  PartClock* clock() const { return report_.clock; }

  std::shared_ptr<const Program> program_;
  const ExecutionContext& context_;
  const Memory& memory_;
  HostEngine& host_;
  WorkReport report_;                                          // of the section at hand
  std::map<int32_t, MadeRows> device_groups_, device_sorted_;  // by hash table, by sorter
  OpenTables open_tables_;                                     // that devices have
  std::map<int32_t, std::set<int32_t>> fillers_;  // by hash table: sections that devices have filled it with
  std::map<size_t, int32_t> tables_shown_;        // by cursor, of groups
  bool has_fallen_back_ = false;                  // to the CPU
  std::unique_ptr<PlacedRun> placed_;             // once a section was
  int32_t timed_ = -1;                            // the section at hand; -1: none yet
  std::chrono::steady_clock::time_point timed_from_;
  std::vector<std::shared_ptr<const TabletSource>> cursors_;
  std::unique_ptr<BlockSource> result_;
  int64_t limit_ = -1, offset_ = 0;
};

}  // namespace diptych
