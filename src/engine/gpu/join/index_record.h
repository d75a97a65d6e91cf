// What an index has of each row: for a table the words of its keys, then the columns that sections fetch, side by side
// (engine/rows/packed_layout.h). Kernels read it by loads of up to 16 bytes.
//
//   |key words|c1|c0|NULL bits|padding|        rows up to 32 bytes lie in one sector of memory each
//
// A string is 16 bytes: where it is, and its length.
#pragma once

#include <vector>

#include "engine/gpu/section_kernel.h"
#include "engine/rows/packed_layout.h"
#include "program/program.h"

namespace diptych::gpu {

// The columns of the index's rows that some section fetches, by column of its row set.
std::vector<bool> fetched_columns(const Program& program, int32_t index);

// Where these stand in a record; none where they are too many or too wide for one.
PackedLayout record_layout(const Program& program, int32_t index);

// Bytes from one row to the next of rows that have so many.
int64_t row_stride(size_t bytes);

// Sets what the shape says of records. before: bytes of the keys' words in front of the fields.
void set_record(const PackedLayout& layout, size_t before, IndexShape& shape);

}  // namespace diptych::gpu
