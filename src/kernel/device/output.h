// Writing the rows of a tile that were selected, one column at a time: they are put close together in local memory and
// written from there, so that neighbouring work-items write neighbouring elements.
//
//   mask, R = 4      item 0: 0101      item 1: 1000      position 0, 2 (dk_block_scan_u32)      total 3
//   stage          | a0 | a2 | b3 |                      -> out[offset], out[offset + 1], out[offset + 2]
//
// dk_put<R>_<u8|u16|u32|u64|i128>(stage, mask, position, values, total, out, offset, capacity), R of 4, 8, 16: called
// by the whole group. stage has room for R * DK_GROUP_SIZE elements; bit i of mask selects values[i]; position is how
// many rows lower work-items select, total how many all do. out has room for `capacity` elements: what would go past it
// is dropped. 2 barriers, the first before local memory is read, the last after it.
#pragma once

#define DK_PUT_OF(R, suffix, type)                                                                                   \
  DK_FN void dk_put##R##_##suffix(DK_LOCAL type* stage, dk_u32 mask, dk_u32 position, DK_PRIVATE const type* values, \
                                  dk_u32 total, DK_GLOBAL type* out, dk_u64 offset, dk_u64 capacity) {               \
    DK_UNROLL for (dk_i32 i = 0; i < R; i++) {                                                                       \
      if ((mask >> i & 1U) != 0) stage[position++] = values[i];                                                      \
    }                                                                                                                \
    DK_BARRIER();                                                                                                    \
    for (dk_u32 i = (dk_u32)DK_LOCAL_ID; i < total; i += DK_GROUP_SIZE) {                                            \
      if (offset + i < capacity) out[offset + i] = stage[i];                                                         \
    }                                                                                                                \
    DK_BARRIER();                                                                                                    \
  }

#define DK_PUTS_OF(R)       \
  DK_PUT_OF(R, u8, dk_u8)   \
  DK_PUT_OF(R, u16, dk_u16) \
  DK_PUT_OF(R, u32, dk_u32) \
  DK_PUT_OF(R, u64, dk_u64) \
  DK_PUT_OF(R, i128, dk_i128)

// clang-format off
DK_PUTS_OF(4)
DK_PUTS_OF(8)
DK_PUTS_OF(16)
// clang-format on
