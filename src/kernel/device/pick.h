// Rows of a tile that a filter lets through, numbered close together, so that each item can fetch the columns of one
// of them. A work-item has left the mask of its rows of each step in local memory before.
//
//   masks, R = 4   step 0: item 0 0101, item 1 1000     step 1: item 0 0010, ...
//   picked       | 0 | 2 | 7 | 4 * DK_TEAM_SIZE + 1 | ...     rows of the batch, in their order
#pragma once

// A batch is so many steps, of 32 rows of each work-item in all.
#define DK_PICK_STEPS (32 / DK_ROWS)
#define DK_PICK_ROWS (32 * DK_TEAM_SIZE)

// Numbers the rows of the batch that begins at `step`; the team calls it together. masks: of all items of the group,
// step by step, `steps` of them; picked: DK_PICK_ROWS elements of the team's own. Returns how many there are. Others
// may read them at once, and have to be through (DK_TEAM_BARRIER) before the next batch.
DK_SHARED_FN dk_u32 dk_pick_rows(DK_LOCAL const dk_u16* masks, dk_i32 step, dk_i32 steps, DK_LOCAL dk_u16* picked,
                                 DK_LOCAL dk_u64* scratch) {
  dk_u32 total = 0;
  DK_UNROLL for (dk_i32 j = 0; j < DK_PICK_STEPS; j++) {
    if (step + j < steps) {
      dk_u32 rows = masks[(step + j) * DK_GROUP_SIZE + DK_LOCAL_ID];
      dk_u32 count;
      dk_u32 at = total + dk_team_scan_u32(DK_POPCOUNT_U32(rows), scratch, &count);
      dk_u32 row = (dk_u32)(j * DK_TEAM_SIZE + DK_LANE) * DK_ROWS;
      for (; rows != 0; rows &= rows - 1) picked[at++] = (dk_u16)(row + DK_CTZ_U32(rows));
      total += count;
    }
  }
  DK_TEAM_BARRIER();
  return total;
}

// Row `i` of those, or the last.
DK_SHARED_FN dk_i64 dk_picked_row(DK_LOCAL const dk_u16* picked, dk_u32 i, dk_u32 total) {
  return (dk_i64)picked[i < total ? i : total - 1];
}
