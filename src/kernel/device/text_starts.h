// Where each of the strings of rows starts when they are written one behind the other.
//
//   rows     | 3 | 0 | 5 |  lengths (text_row.h)
//   starts   | 0 | 3 | 3 | 8 |
//   pieces   | 0 | 8 |      starts of every piece_rows-th row, and the end: for the host
//
// words of the parameters: rows, count, starts, pieces, piece_rows, counter of tiles (0), status of tiles (all 0)
#pragma once

#define DK_TEXT_TILE_ROWS (4 * DK_GROUP_SIZE)

// The sum of the values of lower work-items, and of all: in two halves, since 256 sums of lengths are more than 32
// bits.
DK_SHARED_FN dk_u64 dk_block_scan_lengths(dk_u32 value, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u64* total) {
  dk_u32 low, high;
  dk_u64 before = dk_block_scan_u32(value & 0xFFFFU, scratch, &low);
  before += (dk_u64)dk_block_scan_u32(value >> 16, scratch, &high) << 16;
  *total = low + ((dk_u64)high << 16);
  return before;
}

DK_KERNEL void dk_text_starts(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  DK_GLOBAL const dk_i128* rows = DK_AT(const dk_i128, parameters.word[0]);
  const dk_i64 count = (dk_i64)parameters.word[1];
  DK_GLOBAL dk_u64* starts = DK_AT(dk_u64, parameters.word[2]);
  DK_GLOBAL dk_u64* pieces = DK_AT(dk_u64, parameters.word[3]);
  const dk_i64 piece_rows = (dk_i64)parameters.word[4];
  DK_GLOBAL dk_u64* counter = DK_AT(dk_u64, parameters.word[5]);
  DK_GLOBAL dk_u64* status = DK_AT(dk_u64, parameters.word[6]);
  const dk_i64 tiles = (count + DK_TEXT_TILE_ROWS - 1) / DK_TEXT_TILE_ROWS;
  for (dk_i64 tile = dk_next_tile(counter, scratch); tile < tiles; tile = dk_next_tile(counter, scratch)) {
    const dk_i64 first = tile * DK_TEXT_TILE_ROWS + DK_LOCAL_ID * 4;
    dk_u32 lengths[4];
    dk_u32 mine = 0;
    DK_UNROLL for (dk_i32 i = 0; i < 4; i++) {
      lengths[i] = first + i < count ? (dk_u32)rows[first + i].hi : 0U;
      mine += lengths[i];
    }
    dk_u64 total;
    dk_u64 place = dk_block_scan_lengths(mine, scratch, &total);
    place += dk_look_back(status, tile, total, scratch);
    DK_UNROLL for (dk_i32 i = 0; i < 4; i++) {
      const dk_i64 row = first + i;
      if (row < count) {
        starts[row] = place;
        if (row % piece_rows == 0) pieces[row / piece_rows] = place;
        place += lengths[i];
        if (row == count - 1) {
          starts[count] = place;
          pieces[(count + piece_rows - 1) / piece_rows] = place;
        }
      }
    }
  }
}
