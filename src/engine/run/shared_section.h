// Sections whose tablets a device and the CPU take from one queue: which can be shared, and how totals of both become
// one.
//
//   queue    | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |
//   CPU      | 0 | 1 |               |   | 7 |            whoever is free takes the next
//   device           |2 ........... 6|       |8 .... 9|
//   rows     in the order of the tablets; totals are added up
#pragma once

#include <memory>

#include "engine/rows/host_row_set.h"
#include "program/program.h"
#include "tablet/tablet_source.h"

namespace diptych {

// Whether the rows or totals of the section behind the Parallel at `address` can be put together from parts: not
// groups, rows appended to row sets, rows up to a LIMIT (`wanted` of SectionTask), and aggregates of which a finished
// part does not say enough.
bool can_share(const Program& program, int32_t address, int64_t wanted);

// The totals of both: row sets of the one group of a hash table without keys, of plain columns. Errors: 22003.
std::shared_ptr<const RowSet> add_totals(const Program& program, int32_t hash_table, const TabletSource& a,
                                         const TabletSource& b, const Memory& memory);

}  // namespace diptych
