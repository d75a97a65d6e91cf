// What an index has of each row: for a table its keys, then the columns that sections fetch, side by side
// (engine/rows/packed_layout.h). Kernels read it by loads of up to 16 bytes.
//
//   |k0|k1|c1|c0|NULL bits|padding|        rows of up to 32 bytes lie in one sector of memory each
//
// A key takes 4 bytes, 8 or 16: a string 8, as offset and length. A string that is fetched takes 16: where it is, and
// its length. Where several rows may share a key, keys and records are apart.
#pragma once

#include "engine/gpu/section_kernel.h"
#include "engine/rows/packed_layout.h"
#include "program/program.h"

namespace diptych::gpu {

// Of a launch that builds an index. Devices take 1 KiB of parameters, and two addresses stand before these.
inline constexpr size_t most_parameter_words = 120;

// Where the columns that some section fetches stand in a record; none where they are too many or too wide for one.
PackedLayout record_layout(const Program& program, int32_t index);

// Sets what the shape says of the keys of a table, and of records.
void set_keys(const Program& program, IndexShape& shape);
void set_record(const PackedLayout& layout, IndexShape& shape);

}  // namespace diptych::gpu
