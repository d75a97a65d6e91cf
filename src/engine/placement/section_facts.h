// From a parallel section and the rows that it reads to what the cost model asks for.
#pragma once

#include <cstdint>
#include <vector>

#include "cost/cost_model.h"
#include "engine/run/zone_test.h"
#include "program/program.h"

namespace diptych {

// Rows that a condition of unknown selectivity lets through.
inline constexpr double usual_selectivity = 1.0 / 3;

// A program whose tables have fewer rows runs on the CPU before a device has been asked for anything: they are not
// worth what it takes to find that out. What the CPU is expected to do in the time of a few launches stays there
// however many rows it is.
inline constexpr int64_t least_device_rows = 8192;

// Of groups and rows that a device has made, fewer go on on the host: they are copied in the time that a launch takes.
inline constexpr int64_t least_kept_rows = 32768;

// Rows that a section before has made, or of a file, are no table's.
inline bool is_table(const TabletSource& source) { return source.tablet_count() == 0 || source.tablet_id(0) != 0; }

// What a section reads, of a table or of an object that is estimated.
struct RowsRead {
  int64_t rows = 0, tablets = 0;
  std::vector<size_t> columns;  // of the cursor, ascending
  std::vector<int64_t> bytes;   // by column of the cursor, encoded; 0 where it is not read
};

// Rows that are expected to reach a sink: of a hash table (Group) or of a row set (Append).
struct RowsToSink {
  Opcode kind = Opcode::Group;
  int32_t object = 0;
  double rows = 0;
};

// Of the tablets that the section behind the Parallel at `address` needs. Reads zone maps and sizes, no values.
RowsRead rows_of_table(const Program& program, int32_t address, const TabletSource& source,
                       const NeededTablets& needed);

// Of the section behind the Parallel at `address`. wanted: rows of the result after which it may stop; -1: all.
// Conditions with a constant are judged by the bounds of the other side, as if values were spread evenly between them.
// sinks: what they get; null: not asked for.
SectionFacts find_facts(const Program& program, int32_t address, const RowsRead& rows, int64_t wanted,
                        std::vector<RowsToSink>* sinks = nullptr);
SectionFacts find_facts(const Program& program, int32_t address, const TabletSource& source,
                        const NeededTablets& needed, int64_t wanted);

}  // namespace diptych
