// Sections that run for nothing, once an index has come out empty.
//
//   Parallel .. Append 1 .. Converge    idle: row set 1 is only there for index 1
//   Build    index 1
//   Parallel .. Append 2 .. Converge    has run before
//   Build    index 2                    empty
//   Parallel .. Matches 1 .. Matches 2  idle: none of its rows comes so far
#pragma once

#include <cstdint>
#include <set>

#include "program/program.h"

namespace diptych {

// Whether the section behind the Parallel at `address` may be left out: no row passes it, or all that it makes is for
// sections of which that is true.
bool is_idle(const Program& program, int32_t address, const std::set<int32_t>& empty_indexes);

}  // namespace diptych
