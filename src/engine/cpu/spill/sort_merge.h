// Merging the sorted pieces that runs have written to files.
//
//   pieces   |1 4 9| |2 3 7| |5 6 8| ...   at most as many at once as there is memory for their read buffers
//               '------.------'
//   pass     |1 2 3 4 5 6 7 8 9|           the last one makes tablets; those before, longer pieces in a new file
//
// Knuth, The Art of Computer Programming 3, section 5.4.1 (multiway merging).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/sort_rows.h"
#include "engine/rows/host_row_set.h"
#include "engine/run/context.h"

namespace diptych::cpu {

class SortRun;

// Adds the first `limit` rows of all runs (-1: all) in order to the row set, in pieces that own their strings.
// Errors: 53100, 53200, 57014, 58030.
void merge_runs(const SortLayout& layout, int64_t limit, std::vector<std::unique_ptr<SortRun>> runs, HostRowSet& rows,
                const ExecutionContext& context, const Memory& memory);

}  // namespace diptych::cpu
