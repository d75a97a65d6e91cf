// From a parallel section and its source to what the cost model asks for.
#pragma once

#include "cost/cost_model.h"
#include "engine/run/zone_test.h"
#include "program/program.h"

namespace diptych {

// Rows that a condition of unknown selectivity lets through.
inline constexpr double usual_selectivity = 1.0 / 3;

// Fewer rows are done on the CPU before a device has been asked for anything; at a nanosecond a row they take as long
// as a few launches.
inline constexpr int64_t least_device_rows = 32768;

// Rows that a section before has made lie in the CPU's memory and are few; they are no table's.
inline bool is_table(const TabletSource& source) { return source.tablet_count() == 0 || source.tablet_id(0) != 0; }

// Of the section behind the Parallel at `address`. wanted: rows of the result after which it may stop; -1: all. Reads
// zone maps and sizes, no values; conditions with a constant are judged by the bounds of the other side, as if values
// were spread evenly between them.
SectionFacts find_facts(const Program& program, int32_t address, const TabletSource& source,
                        const NeededTablets& needed, int64_t wanted);

}  // namespace diptych
