// A stable sort of pairs (u64 key, u32 value), least significant digit first, eight bits a pass, for devices that CUB
// does not run on. A pass is three kernels over the same division of the pairs among groups:
//
//   dk_radix_count    each group counts the digits of its pairs        counts[digit][group]
//   dk_run_scan       each digit's row of counts becomes prefix sums, and its sum
//   dk_radix_scatter  each group sorts its tiles by the digit in local memory and writes them where the sums say
//
// After D. Merrill, A. Grimshaw: Revisiting Sorting for GPGPU Stream Architectures (2010); the sort within a tile is
// that of N. Satish, M. Harris, M. Garland: Designing Efficient Sorting Algorithms for Manycore GPUs (2009).
#pragma once

#define DK_RADIX_DIGITS 256
#define DK_RADIX_DIGIT(key, shift) ((dk_u32)((key) >> (shift)) & (DK_RADIX_DIGITS - 1))

#if DK_GROUP_SIZE != DK_RADIX_DIGITS
#error "work-items and digits are matched one to one"
#endif

// rows, keys, shift, counts
DK_KERNEL void dk_radix_count(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u32 tally[DK_RADIX_DIGITS];
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  dk_i32 shift = (dk_i32)parameters.word[2];
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[3]);
  dk_i64 end = dk_run_start(rows, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  tally[DK_LOCAL_ID] = 0;
  DK_BARRIER();
  for (dk_i64 i = dk_run_start(rows, DK_GROUP_ID, DK_GROUP_COUNT) + DK_LOCAL_ID; i < end; i += DK_GROUP_SIZE) {
    dk_atomic_add_local_u32(&tally[DK_RADIX_DIGIT(keys[i], shift)], 1);
  }
  DK_BARRIER();
  counts[(dk_i64)DK_LOCAL_ID * DK_GROUP_COUNT + DK_GROUP_ID] = tally[DK_LOCAL_ID];
}

// Where each of the work-item's keys belongs in the tile sorted by four bits: `tally` counts them for each value and
// work-item, value by value, so that its prefix sums are the places.
DK_SHARED_FN void dk_radix_places(DK_PRIVATE const dk_u64* keys, dk_i32 shift, DK_LOCAL dk_u16* tally,
                                  DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* places) {
  for (dk_i32 value = 0; value < 16; value++) tally[value * DK_GROUP_SIZE + DK_LOCAL_ID] = 0;
  DK_UNROLL for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
    dk_i32 mine = (dk_i32)(keys[i] >> shift & 15) * DK_GROUP_SIZE + DK_LOCAL_ID;
    places[i] = tally[mine];
    tally[mine] = (dk_u16)(places[i] + 1);
  }
  DK_BARRIER();
  dk_u32 sum = 0;
  dk_u32 total = 0;
  for (dk_i32 i = 0; i < 16; i++) sum += tally[DK_LOCAL_ID * 16 + i];
  sum = dk_block_scan_u32(sum, scratch, &total);
  for (dk_i32 i = 0; i < 16; i++) {
    dk_u32 count = tally[DK_LOCAL_ID * 16 + i];
    tally[DK_LOCAL_ID * 16 + i] = (dk_u16)sum;
    sum += count;
  }
  DK_BARRIER();
  DK_UNROLL for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
    places[i] += tally[(dk_i32)(keys[i] >> shift & 15) * DK_GROUP_SIZE + DK_LOCAL_ID];
  }
  DK_BARRIER();
}

// Sorts the tile by eight bits from `shift` on, in two halves. `tally` may lie in the tile.
DK_SHARED_FN void dk_radix_sort_tile(DK_LOCAL dk_u64* tile_keys, DK_LOCAL dk_u32* tile_values, dk_i32 shift,
                                     DK_LOCAL dk_u16* tally, DK_LOCAL dk_u64* scratch) {
  dk_u64 keys[DK_RUN_ROWS];
  dk_u32 values[DK_RUN_ROWS];
  dk_u32 places[DK_RUN_ROWS];
  for (dk_i32 nibble = 0; nibble < 2; nibble++) {
    DK_UNROLL for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
      keys[i] = tile_keys[DK_LOCAL_ID * DK_RUN_ROWS + i];
      values[i] = tile_values[DK_LOCAL_ID * DK_RUN_ROWS + i];
    }
    DK_BARRIER();
    dk_radix_places(keys, shift + 4 * nibble, tally, scratch, places);
    DK_UNROLL for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
      tile_keys[places[i]] = keys[i];
      tile_values[places[i]] = values[i];
    }
    DK_BARRIER();
  }
}

// rows, keys, values, shift, prefix sums of counts, sums, keys and values to write
DK_KERNEL void dk_radix_scatter(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u64 tile_keys[DK_RUN_TILE];
  DK_SHARED dk_u32 tile_values[DK_RUN_TILE];
  DK_SHARED dk_u32 next[DK_RADIX_DIGITS];   // where the group's next pair of each digit goes
  DK_SHARED dk_u32 first[DK_RADIX_DIGITS];  // the digit's first pair in the sorted tile
  DK_SHARED dk_u64 scratch[DK_GROUP_SIZE];  // less than DK_SCRATCH, for dk_block_scan_u32 alone: all fits in 32 KiB
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  DK_GLOBAL const dk_u32* values = DK_AT(dk_u32, parameters.word[2]);
  dk_i32 shift = (dk_i32)parameters.word[3];
  DK_GLOBAL const dk_u32* counts = DK_AT(dk_u32, parameters.word[4]);
  DK_GLOBAL const dk_u32* sums = DK_AT(dk_u32, parameters.word[5]);
  DK_GLOBAL dk_u64* to_keys = DK_AT(dk_u64, parameters.word[6]);
  DK_GLOBAL dk_u32* to_values = DK_AT(dk_u32, parameters.word[7]);
  dk_u32 total = 0;
  next[DK_LOCAL_ID] = dk_block_scan_u32(sums[DK_LOCAL_ID], scratch, &total) +
                      counts[(dk_i64)DK_LOCAL_ID * DK_GROUP_COUNT + DK_GROUP_ID];
  dk_i64 end = dk_run_start(rows, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  for (dk_i64 start = dk_run_start(rows, DK_GROUP_ID, DK_GROUP_COUNT); start < end; start += DK_RUN_TILE) {
    dk_i32 count = (dk_i32)(end - start < DK_RUN_TILE ? end - start : DK_RUN_TILE);
    for (dk_i32 at = DK_LOCAL_ID; at < DK_RUN_TILE; at += DK_GROUP_SIZE) {
      // What pads the last tile has the greatest digit and comes after all pairs.
      tile_keys[at] = at < count ? keys[start + at] : ~(dk_u64)0;
      tile_values[at] = at < count ? values[start + at] : 0;
    }
    DK_BARRIER();
    dk_radix_sort_tile(tile_keys, tile_values, shift, (DK_LOCAL dk_u16*)tile_keys, scratch);
    for (dk_i32 at = DK_LOCAL_ID; at < count; at += DK_GROUP_SIZE) {
      dk_u32 digit = DK_RADIX_DIGIT(tile_keys[at], shift);
      if (at == 0 || DK_RADIX_DIGIT(tile_keys[at - 1], shift) != digit) first[digit] = (dk_u32)at;
    }
    DK_BARRIER();
    for (dk_i32 at = DK_LOCAL_ID; at < count; at += DK_GROUP_SIZE) {
      dk_u32 digit = DK_RADIX_DIGIT(tile_keys[at], shift);
      dk_u32 place = next[digit] + ((dk_u32)at - first[digit]);
      to_keys[place] = tile_keys[at];
      to_values[place] = tile_values[at];
    }
    DK_BARRIER();
    for (dk_i32 at = DK_LOCAL_ID; at < count; at += DK_GROUP_SIZE) {
      dk_u32 digit = DK_RADIX_DIGIT(tile_keys[at], shift);
      dk_bool last = at + 1 == count || DK_RADIX_DIGIT(tile_keys[at + 1], shift) != digit;
      if (last) next[digit] += (dk_u32)at + 1 - first[digit];
    }
    DK_BARRIER();
  }
}
