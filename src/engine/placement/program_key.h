// What a program is known again by: its opcodes, and the tables and columns that it reads. Literals do not count.
#pragma once

#include <cstdint>

#include "program/program.h"

namespace diptych {

// The key with another word.
uint64_t mixed_key(uint64_t key, uint64_t word);
// Of the program from the section behind the Parallel at `address` on, or all of it (0), over these tablets.
uint64_t program_key(const Program& program, int32_t address);
// Of all of the program over tables that begin with the same tablet and have about as many: a commit of a few rows
// makes it no other.
uint64_t lasting_key(const Program& program);

}  // namespace diptych
