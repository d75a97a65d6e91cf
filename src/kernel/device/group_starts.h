// Where the rows of each partition start, and how partitions are divided into slices of at most so many rows.
//
//   counts   | 3 | 0 | 5 | 2 |  ->  starts | 0 | 3 | 3 | 8 | 10 |         in place
//   slices of 4 rows, two counts a partition: first_slices | 0 | 1 | 3 |
#pragma once

#define DK_STARTS_TILE (4 * DK_GROUP_SIZE)

// words of the parameters: counts, how many (there is room for one more), counter of tiles (0), status of tiles (all
// 0), where the highest count goes (a number of 32 bits that is 0 at first; 0: nobody asks)
DK_KERNEL void dk_group_starts(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[0]);
  const dk_i64 count = (dk_i64)parameters.word[1];
  DK_GLOBAL dk_u64* counter = DK_AT(dk_u64, parameters.word[2]);
  DK_GLOBAL dk_u64* status = DK_AT(dk_u64, parameters.word[3]);
  DK_GLOBAL dk_u32* highest = DK_AT(dk_u32, parameters.word[4]);
  const dk_i64 tiles = (count + DK_STARTS_TILE - 1) / DK_STARTS_TILE;
  for (dk_i64 tile = dk_next_tile(counter, scratch); tile < tiles; tile = dk_next_tile(counter, scratch)) {
    const dk_i64 first = tile * DK_STARTS_TILE + DK_LOCAL_ID * 4;
    dk_u32 mine[4];
    dk_u32 sum = 0, most = 0;
    DK_UNROLL for (dk_i32 i = 0; i < 4; i++) {
      mine[i] = first + i < count ? counts[first + i] : 0U;
      sum += mine[i];
      most = mine[i] > most ? mine[i] : most;
    }
    if (parameters.word[4] != 0 && most > dk_atomic_load_global_u32(highest)) dk_atomic_max_global_u32(highest, most);
    dk_u32 total;
    dk_u32 place = dk_block_scan_u32(sum, scratch, &total);
    place += (dk_u32)dk_look_back(status, tile, total, scratch);
    DK_UNROLL for (dk_i32 i = 0; i < 4; i++) {
      if (first + i < count) counts[first + i] = place;
      place += mine[i];
      if (first + i == count - 1) counts[count] = place;
    }
  }
}

// One work-group. words of the parameters: starts, partitions, counts of a partition, rows of a slice, first_slices
DK_KERNEL void dk_group_slices(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_GLOBAL const dk_u32* starts = DK_AT(const dk_u32, parameters.word[0]);
  const dk_i64 partitions = (dk_i64)parameters.word[1];
  const dk_i64 counts = (dk_i64)parameters.word[2];
  const dk_u32 slice_rows = (dk_u32)parameters.word[3];
  DK_GLOBAL dk_u32* first_slices = DK_AT(dk_u32, parameters.word[4]);
  dk_u32 before = 0;
  for (dk_i64 first = 0; first < partitions; first += DK_GROUP_SIZE) {
    const dk_i64 partition = first + DK_LOCAL_ID;
    dk_u32 rows = 0;
    if (partition < partitions) rows = starts[(partition + 1) * counts] - starts[partition * counts];
    dk_u32 total;
    const dk_u32 place = dk_block_scan_u32(rows / slice_rows + (rows % slice_rows != 0), scratch, &total);
    if (partition < partitions) first_slices[partition] = before + place;
    before += total;
  }
  if (DK_LOCAL_ID == 0) first_slices[partitions] = before;
}
