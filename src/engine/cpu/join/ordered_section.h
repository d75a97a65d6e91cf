// A section that runs in passes and writes rows whose order counts: each of its rows gets what tells its place in the
// order of a single run, and the rows of all passes are sorted by that.
//
//   Parallel 0                       Parallel 0
//     Column  r1 0                     Rowid   r8              the row's position,
//     Matches r2 r1 0                  Column  r1 0
//     Fetch   r3 r2 0 1                Matches r2 r1 0
//     Result  r3 1                     Fetch   r3 r2 0 1
//     Converge                         Fetch   r9 r2 0 2       the position of the row that it has met,
//                                      Move    r10 r3
//                                      Append  1 r8 3          row set 1: sorted by these two
//                                      Converge
//                                    Rows 1 1
//                                    Parallel 1
//                                      Column  r10 2
//                                      Result  r10 1
//                                      Converge
#pragma once

#include <functional>

#include "program/program.h"

namespace diptych::cpu {

struct OrderedSection {
  Program program;         // the one it is part of, and these two sections behind it
  int32_t collecting = 0;  // address of the Parallel that appends to the row set
  int32_t writing = 0;     // of that which hands its rows on
  int32_t row_set = 0;
  int32_t moved = 0;  // how far behind their own addresses the opcodes stand that collecting has a copy of

  const RowSetInfo& info() const { return program.row_sets[static_cast<size_t>(row_set)]; }
};

// The last opcode of a section hands rows on in their order: Result, or Append to a row set without keys.
bool keeps_order(const Program& program, int32_t address);

// Of such a section, behind the Parallel at `address`. rows: of its cursor. has_positions(index): whether the index has
// positions as its last column; else it is the same in all passes. wanted: rows of Result, -1: all.
OrderedSection make_ordered(const Program& program, int32_t address, int64_t rows, int64_t wanted,
                            const std::function<bool(int32_t index)>& has_positions);

}  // namespace diptych::cpu
