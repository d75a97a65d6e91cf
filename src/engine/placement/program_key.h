// What a program is known again by: its opcodes and the tablets it reads, so that a table that grows makes it another.
// Literals do not count.
#pragma once

#include <cstdint>

#include "program/program.h"

namespace diptych {

// The key with another word.
uint64_t mixed_key(uint64_t key, uint64_t word);
// Of the program from the section behind the Parallel at `address` on, or all of it (0).
uint64_t program_key(const Program& program, int32_t address);

}  // namespace diptych
