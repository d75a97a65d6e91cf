// Putting together the dense tables of threads: range of groups by range, several at a time.
//
//   table of thread 0   |groups 0 ...    |...            |...            |
//   table of thread 1   |                |               |               |
//   tasks                '---- added ----''---- added ----''---- added ----'    to the first table, then put out
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/group_table.h"

namespace diptych::cpu {

// The rows of all groups, in the order of their keys. tables: at least one, none of them hashed; they are used up, on
// at most `threads` threads. Errors: 53200, what adding states raises.
std::vector<HostPiece> merge_dense(std::vector<std::unique_ptr<GroupTable>> tables, int threads);

}  // namespace diptych::cpu
