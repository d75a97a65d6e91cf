// Writes the strings of rows one behind the other. A work-item writes eight neighbouring bytes at a time, of however
// many strings they are, so that long and short strings are written alike.
//
//   rows      | 0x700, 3 | 0, 0 | 0x710, 5 |      starts | 0 | 3 | 3 | 8 |    of text_starts.h
//   heap      | AIRTRUCK |
//   offsets   | 0 | 3 | 3 | 8 |  of piece 0, then those of piece 1, which start at 0 again, piece_stride entries on
//
// piece_rows is a multiple of DK_TEXT_TILE_ROWS; piece_stride is greater.
// words of the parameters: rows, count, starts, heap, offsets, piece_rows, piece_stride
#pragma once

#define DK_TEXT_TILE_ROWS (4 * DK_GROUP_SIZE)

// The last of so many strings that starts at or before `at`: the one that has the byte there.
DK_SHARED_FN dk_i32 dk_string_at(DK_LOCAL const dk_u64* begins, dk_i32 count, dk_u64 at) {
  dk_i32 low = 0;
  dk_i32 high = count - 1;
  while (low < high) {
    dk_i32 middle = (low + high + 1) >> 1;
    if (begins[middle] <= at) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// The bytes [from, to) of the heap, in the lowest bytes of a word.
DK_SHARED_FN dk_u64 dk_string_bytes(DK_SPACES_PARAM, DK_GLOBAL const dk_i128* rows, DK_LOCAL const dk_u64* begins,
                                    dk_i32 count, dk_u64 from, dk_u64 to) {
  dk_u64 word = 0;
  dk_i32 row = dk_string_at(begins, count, from);
  for (dk_u64 at = from; at < to; row++) {
    const dk_u64 end = begins[row + 1] < to ? begins[row + 1] : to;
    if (at < end) {
      DK_GLOBAL const dk_u8* bytes = DK_AT(const dk_u8, rows[row].lo) + (at - begins[row]);
      for (dk_u64 first = at; at < end; at++) word |= (dk_u64)bytes[at - first] << (8 * (at - from));
    }
  }
  return word;
}

DK_KERNEL void dk_text_copy(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u64 begins[DK_TEXT_TILE_ROWS + 1];
  const dk_i64 count = (dk_i64)parameters.word[1];
  DK_GLOBAL const dk_u64* starts = DK_AT(const dk_u64, parameters.word[2]);
  DK_GLOBAL dk_u8* heap = DK_AT(dk_u8, parameters.word[3]);
  const dk_i64 piece_rows = (dk_i64)parameters.word[5];
  const dk_i64 tiles = (count + DK_TEXT_TILE_ROWS - 1) / DK_TEXT_TILE_ROWS;
  for (dk_i64 tile = DK_GROUP_ID; tile < tiles; tile += DK_GROUP_COUNT) {
    const dk_i64 first = tile * DK_TEXT_TILE_ROWS;
    const dk_i32 here = (dk_i32)(count - first < DK_TEXT_TILE_ROWS ? count - first : DK_TEXT_TILE_ROWS);
    DK_GLOBAL const dk_i128* rows = DK_AT(const dk_i128, parameters.word[0]) + first;
    const dk_i64 piece = first / piece_rows;
    const dk_i64 in_piece = first - piece * piece_rows;
    const dk_u64 base = starts[piece * piece_rows];
    DK_GLOBAL dk_u32* offsets = DK_AT(dk_u32, parameters.word[4]) + piece * (dk_i64)parameters.word[6] + in_piece;
    // The tile after this one writes the same to the entry behind this tile's, unless it is of another piece.
    for (dk_i32 i = DK_LOCAL_ID; i <= here; i += DK_GROUP_SIZE) {
      begins[i] = starts[first + i];
      offsets[i] = (dk_u32)(begins[i] - base);
    }
    DK_BARRIER();
    const dk_u64 from = begins[0];
    const dk_u64 to = begins[here];
    for (dk_u64 word = (from & ~DK_U64(7)) + 8 * (dk_u64)DK_LOCAL_ID; word < to; word += 8 * DK_GROUP_SIZE) {
      const dk_u64 low = word < from ? from : word;
      const dk_u64 high = word + 8 < to ? word + 8 : to;
      dk_u64 bytes = dk_string_bytes(DK_SPACES_ARG, rows, begins, here, low, high);
      if (high - low == 8) {
        *(DK_GLOBAL dk_u64*)(heap + word) = bytes;
      } else {
        for (dk_u64 at = low; at < high; at++, bytes >>= 8) heap[at] = (dk_u8)bytes;
      }
    }
    DK_BARRIER();
  }
}
