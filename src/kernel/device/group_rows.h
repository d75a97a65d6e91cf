// Rows of 32-bit words that are put together by the partition of their group.
//
//   starts   partition 0: of group 0 of the grid, of group 1, ...|partition 1: ...| ... |end|     in rows
//   rows     |partition 0     |partition 1                       | ...
//
// What group g of the grid has of partition p starts at row starts[p * groups + g].
#pragma once

// The upper bits of a hash, 1 or more.
DK_FN dk_u32 dk_partition_of(dk_u64 hash, dk_i32 bits) { return (dk_u32)(hash >> (64 - bits)); }

// words: 1, 2, or a multiple of 4; rows start on a multiple of their size.
DK_FN void dk_store_row(DK_GLOBAL dk_u32* at, DK_PRIVATE const dk_u32* row, dk_i32 words) {
  if (words == 1) {
    at[0] = row[0];
  } else if (words == 2) {
    DK_STORE_X2(at, row);
  } else {
    DK_UNROLL for (dk_i32 i = 0; i < words; i += 4) { DK_STORE_X4(at + i, row + i); }
  }
}
DK_FN void dk_load_row(DK_GLOBAL const dk_u32* at, DK_PRIVATE dk_u32* row, dk_i32 words) {
  if (words == 1) {
    DK_LOAD_X1(at, row);
  } else if (words == 2) {
    DK_LOAD_X2(at, row);
  } else {
    DK_UNROLL for (dk_i32 i = 0; i < words; i += 4) { DK_LOAD_X4(at + i, row + i); }
  }
}

// The part, of parts that begin at starts[0], starts[1], ..., that a number is in; the last begins behind it.
DK_FN dk_i32 dk_find_part(DK_GLOBAL const dk_u32* starts, dk_i32 parts, dk_u32 number) {
  dk_i32 low = 0;
  dk_i32 high = parts;
  while (high - low > 1) {
    dk_i32 middle = (low + high) >> 1;
    if (starts[middle] <= number) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}
