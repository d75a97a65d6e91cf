// Where a tile's rows go in an output that keeps the order of the tiles: decoupled look-back. D. Merrill, M. Garland:
// Single-pass Parallel Prefix Scan with Decoupled Look-back (2016).
//
//   tile      0          1        2        3     ...
//   status  | prefix 5 | prefix 9 | count 3 | 0 |      2 bits say what the other 62 are
//
// One word of status per tile, all 0 before the kernel starts. A tile first shows its own count, then adds up what the
// tiles before it show until it meets one that shows the sum up to its end, and shows its own such sum. A state and its
// number are one word, stored at once, so that no fence is needed.
//
// A tile waits for tiles before it only. Tiles are taken by dk_next_tile, so that whoever has those is running already
// and, as it never waits for a later one, finishes: also where groups run one after another, as on a CPU.
#pragma once

#define DK_TILE_COUNT DK_U64(0x4000000000000000)   // rows of this tile alone
#define DK_TILE_PREFIX DK_U64(0x8000000000000000)  // rows of this and all tiles before
#define DK_TILE_VALUE DK_U64(0x3FFFFFFFFFFFFFFF)

// The next tile, for the whole group; *counter is 0 before the kernel starts. The group has to be through with a tile,
// dk_look_back included, when it takes another. 2 barriers.
DK_SHARED_FN dk_i64 dk_next_tile(DK_GLOBAL dk_u64* counter, DK_LOCAL dk_u64* scratch) {
  dk_u64 tile = 0;
  if (DK_LOCAL_ID == 0) tile = dk_atomic_add_global_u64(counter, 1);
  return (dk_i64)dk_block_broadcast_u64(tile, scratch);
}

// The sum of the counts of all tiles before `tile`, whose own is `count`; the whole group calls it with the same
// arguments and gets the same result. Each round looks at DK_GROUP_SIZE tiles.
DK_SHARED_FN dk_u64 dk_look_back(DK_GLOBAL dk_u64* status, dk_i64 tile, dk_u64 count, DK_LOCAL dk_u64* scratch) {
  dk_u64 before = 0;
  if (DK_LOCAL_ID == 0) dk_atomic_store_global_u64(status + tile, (tile == 0 ? DK_TILE_PREFIX : DK_TILE_COUNT) | count);
  dk_i64 last = tile - 1;  // of the tiles of the round
  while (last >= 0) {
    dk_i64 mine = last - DK_LOCAL_ID;
    dk_u64 seen = DK_TILE_PREFIX;  // before the first tile there are no rows
    if (mine >= 0) {
      seen = dk_atomic_load_global_u64(status + mine);
      while (seen == 0) seen = dk_atomic_load_global_u64(status + mine);
    }
    dk_u32 nearest = dk_block_min_u32((seen & DK_TILE_PREFIX) != 0 ? (dk_u32)DK_LOCAL_ID : DK_GROUP_SIZE, scratch);
    before += dk_block_sum_u64((dk_u32)DK_LOCAL_ID <= nearest ? seen & DK_TILE_VALUE : 0, scratch);
    last = nearest < DK_GROUP_SIZE ? -1 : last - DK_GROUP_SIZE;
  }
  if (DK_LOCAL_ID == 0 && tile > 0) dk_atomic_store_global_u64(status + tile, DK_TILE_PREFIX | (before + count));
  return before;
}
