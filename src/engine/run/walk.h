// Walks a program: runs its setup opcodes in order and for each Parallel the section behind it, and owns the row sets.
//
//   Table, Limit, Offset    noted
//   Parallel .. Converge    a device, if the section was placed on one; else the CPU, which first brings here what the
//                           section reads or goes on filling
//   Groups, SortRows        what a device has made stays there until somebody here reads it
//   Drop                    the row set's memory is freed
//
// Where a device fails at what it has made before, the CPU runs the sections again that had made it, and those that had
// made the row sets that these read, where they have been dropped.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
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
  // What the program expected of what was found.
  void add_estimates(SectionProfile& section) const;
  // The section at hand, and the operations behind it, are through; the next one's, if there is one.
  void end_timing(int32_t next);
  void run_section(int32_t address);
  void run_section(int32_t address, const std::shared_ptr<const TabletSource>& source);
  // On the CPU as the first, since no device reads files.
  void run_next_part(int32_t address, const std::shared_ptr<const TabletSource>& part);
  SectionProfile run_here(int32_t address, const TabletSource& source, const NeededTablets& needed);
  // What the indexes that are there tell about the rows that the section needs.
  KeyConditions key_conditions(int32_t address) const;
  // Takes over what a device has made of the section; false when none has.
  bool run_on_device(int32_t address, const std::shared_ptr<const TabletSource>& source, const NeededTablets& needed,
                     PlacementNote& note);
  void take_over(int32_t address, SectionResult made, HostPart& part);
  // Has a device begin with this section and those behind it that wait for none of them.
  void start_sections(int32_t address);

  // What a cursor is on: a row set, or a table.
  struct Cursor {
    std::shared_ptr<const TabletSource> table;
    int32_t row_set = -1;
  };
  // A section that a device was to begin with before its turn.
  struct Ahead {
    Ahead(std::shared_ptr<const TabletSource> rows, const CursorInfo& cursor)
        : source(std::move(rows)), needed(cursor, *source) {}
    std::shared_ptr<const TabletSource> source;
    NeededTablets needed;
    WorkReport report;
    PartTimes parts;  // of that
  };
  struct HeldRows {
    std::shared_ptr<const RowSet> rows;  // null: it is not there, or what is appended is with those who do it
    int32_t hash_table = -1;             // whose groups it has
  };
  // What has to run again so that hash tables are filled here.
  struct Again {
    std::set<int32_t> tables, sections, row_sets;
  };

  // Whether a section before has filled one of its hash tables here.
  bool has_begun(int32_t address) const;
  // The hash tables that the section goes on filling are to be here.
  void bring_tables_here(int32_t address);
  // What a device has made of the hash table is made again, and with it all that the same sections have filled.
  void fill_here(int32_t table);
  // Runs the sections again, and all that they need.
  void make_again(Again wanted);
  Again needed_again(Again wanted) const;
  std::set<int32_t> row_sets_met(int32_t address) const;
  // The indexes that the section's rows meet are to be here.
  void bring_indexes_here(int32_t address);
  FormProfile build_here(int32_t index);
  bool build_there(int32_t index, const std::shared_ptr<const RowSet>& rows);
  // The sections before this address that fill the hash table, or append to the row set.
  std::set<int32_t> fillers_before(int32_t address, int32_t table) const;
  std::set<int32_t> appenders_before(int32_t address, int32_t row_set) const;
  void run_again(int32_t address);
  // These columns of a cursor's rows, in host memory.
  std::shared_ptr<const TabletSource> rows_here(const Cursor& cursor, std::span<const size_t> columns,
                                                std::shared_ptr<const TabletSource> source, PlacementNote& note);
  // All columns of the row set's rows, in host memory.
  std::shared_ptr<const TabletSource> all_rows_here(int32_t row_set);
  // What this engine has of the row set.
  MadeRows take_here(int32_t row_set);
  // A copy of the row set's rows in host memory.
  std::shared_ptr<HostRowSet> copy_here(int32_t row_set);
  // Has the rows of a row set where the context asks for it.
  void move_rows(int32_t row_set);
  OperationProfile make_groups(int32_t row_set, int32_t table);
  OperationProfile sort_rows(int32_t row_set);
  // The rows of a row set without keys are put together when something first asks for them.
  void complete_rows(int32_t row_set);
  void open_rows(size_t cursor, int32_t row_set);
  OperationProfile build(int32_t index, int32_t row_set);
  void note_build_time(int32_t index);
  void drop(int32_t row_set);
  // What devices have made of a hash table; no rows: it is filled here.
  MadeRows made_groups(int32_t table);
  std::shared_ptr<const TabletSource> finish();

  // Rows of the result still wanted of the next section, -1: all.
  int64_t rows_wanted() const;
  const Cursor& cursor_of(int32_t address) const;
  const CursorInfo& cursor_info_of(int32_t address) const;
  std::shared_ptr<const TabletSource> rows_of(const Cursor& cursor) const;
  HeldRows& row_set(int32_t number) { return row_sets_[static_cast<size_t>(number)]; }
  const HeldRows& row_set(int32_t number) const { return row_sets_[static_cast<size_t>(number)]; }
  std::vector<ColumnDefinition> definitions_of(int32_t row_set) const;
  // When nobody wants to know the time: null.
  PartClock* clock() const { return report_.clock; }

  std::shared_ptr<const Program> program_;
  const ExecutionContext& context_;
  const Memory& memory_;
  HostEngine& host_;
  WorkReport report_;                                        // of the section or operation at hand
  PartClock clock_{TimePart::Prepare};                       // of the section at hand, or of one that is started
  std::map<int32_t, MadeRows> device_groups_, device_rows_;  // by hash table, by row set: until they are asked for
  DeviceIndexes device_indexes_;                             // that devices have built
  std::set<int32_t> host_indexes_;                           // that are here
  std::map<int32_t, Ahead> ahead_;                           // by address; those of started_ refer to it
  StartedSections started_;
  OpenTables open_tables_;                        // that devices have
  std::map<int32_t, std::set<int32_t>> fillers_;  // by hash table: sections that devices have filled it with
  bool has_fallen_back_ = false;                  // to the CPU
  std::unique_ptr<PlacedRun> placed_;             // once a section was
  int32_t timed_ = -1;                            // the section at hand; -1: none yet
  std::chrono::steady_clock::time_point timed_from_;
  std::vector<Cursor> cursors_;
  std::vector<HeldRows> row_sets_;
  std::set<int32_t> empty_indexes_;
  std::unique_ptr<HostRowSet> result_;
  int64_t limit_ = -1, offset_ = 0;
};

}  // namespace diptych
