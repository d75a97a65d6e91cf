// Rows divided among the groups of a launch, a run of whole tiles for each, so that what groups count can be summed up
// to where each of them writes, in the order of the rows.
#pragma once

#define DK_RUN_ROWS 8
#define DK_RUN_TILE (DK_RUN_ROWS * DK_GROUP_SIZE)

// The first row of a group's part of the rows, which is whole tiles; of the group after the last: all rows.
DK_FN dk_i64 dk_run_start(dk_i64 rows, dk_i32 group, dk_i32 groups) {
  dk_i64 tiles = (rows + DK_RUN_TILE - 1) / DK_RUN_TILE;
  dk_i64 start = tiles * group / groups * DK_RUN_TILE;
  return start < rows ? start : rows;
}

// length, counts, sums: a group for each row of `length` counts.
DK_KERNEL void dk_run_scan(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i32 length = (dk_i32)parameters.word[0];
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[1]) + (dk_i64)DK_GROUP_ID * length;
  DK_GLOBAL dk_u32* sums = DK_AT(dk_u32, parameters.word[2]);
  dk_u32 before = 0;
  for (dk_i32 first = 0; first < length; first += DK_GROUP_SIZE) {
    dk_i32 at = first + DK_LOCAL_ID;
    dk_u32 total = 0;
    dk_u32 place = dk_block_scan_u32(at < length ? counts[at] : 0, scratch, &total);
    if (at < length) counts[at] = before + place;
    before += total;
  }
  if (DK_LOCAL_ID == 0) sums[DK_GROUP_ID] = before;
}
