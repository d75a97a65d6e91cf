// What estimates say of the rows that Matches leaves, as far as a kernel's form depends on it.
#pragma once

#include "program/program.h"

namespace diptych::gpu {

// Whether most rows that are looked up in the index are expected to find nothing.
bool is_mostly_missed(const Program& program, int32_t index);

// Whether so few rows of its section are expected to be left behind the Matches at the address that a column is better
// loaded for these alone than for all rows beforehand: a sector of memory has 8 to 32 rows.
bool leaves_few(const Program& program, int32_t address);

// Whether so few rows of the section behind the Parallel at the address are expected to reach its sinks that noting
// which ones do takes less than finding them again.
bool few_reach_sinks(const Program& program, int32_t address);

// Whether some section reads columns of the index's rows.
bool is_fetched(const Program& program, int32_t index);

}  // namespace diptych::gpu
