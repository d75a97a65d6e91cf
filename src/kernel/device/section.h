// What the kernels of parallel sections share: finding the rows of a tile, masks of the DK_ROWS rows of a work-item,
// and the first failure.
//
// The text that includes it defines DK_ROWS (1, 4, 8 or 16) as well. Tablets are described by words in device memory:
// rows, first tile, position of the first row, rows before it, and then six words a column
// (engine/gpu/section_kernel.h).
#pragma once

#define DK_ALL_ROWS (0xFFFFFFFFU >> (32 - DK_ROWS))
#define DK_FOR_ROWS(k) DK_UNROLL for (dk_i32 k = 0; k < DK_ROWS; k++)

// The tablet that a tile belongs to: the last whose first tile is not behind it. tiles_per_tablet: of all tablets but
// the last; 0 when they differ.
DK_FN dk_i64 dk_find_tablet(DK_GLOBAL const dk_u64* tablets, dk_i32 words, dk_i64 count, dk_i64 tiles_per_tablet,
                            dk_i64 tile) {
  if (tiles_per_tablet == 1) return tile;
  if (tiles_per_tablet > 0) return (dk_i64)((dk_u32)tile / (dk_u32)tiles_per_tablet);
  dk_i64 low = 0;
  dk_i64 high = count - 1;
  while (low < high) {
    dk_i64 middle = (low + high + 1) >> 1;
    if ((dk_i64)tablets[middle * words + 1] <= tile) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// The rows of a work-item that there are when `left` rows are left of the tablet.
DK_FN dk_u32 dk_rows_left(dk_i32 left) {
  if (left >= DK_ROWS) return DK_ALL_ROWS;
  return left <= 0 ? 0U : (1U << left) - 1U;
}

// The rows from `first` on that are not NULL; address 0: there is no bitmap, none is.
DK_FN dk_u32 dk_known_rows(DK_GLOBAL const dk_u8* bitmap, dk_u64 address, dk_i64 first) {
  return address == 0 ? DK_ALL_ROWS : dk_validity_bits(bitmap, first, DK_ROWS);
}

DK_FN dk_u8 dk_row_is_known(DK_GLOBAL const dk_u8* bitmap, dk_i64 row) {
  return (dk_u8)((dk_u32)bitmap[row >> 3] >> (row & 7) & 1U);
}

// One code of a column whose width differs from tablet to tablet.
DK_FN dk_u64 dk_code_at(DK_GLOBAL const dk_u8* codes, dk_i32 width, dk_i64 row) {
  if (width == 1) return codes[row];
  if (width == 2) return ((DK_GLOBAL const dk_u16*)codes)[row];
  if (width == 4) return ((DK_GLOBAL const dk_u32*)codes)[row];
  return width == 0 ? 0 : ((DK_GLOBAL const dk_u64*)codes)[row];
}

// Adds rows to those that are noted of an item, a byte each.
DK_FN void dk_note_rows(DK_GLOBAL dk_u8* masks, dk_u64 item, dk_u32 rows) {
  dk_atomic_or_global_u32((DK_GLOBAL dk_u32*)(masks + (item & ~(dk_u64)3)), rows << 8 * (dk_u32)(item & 3));
}

// Keeps the failure of a row that counts: the error, and the address of the opcode + 1 in the upper half.
#define DK_NOTE_FAILURE(failure, error, counts, address)                   \
  if ((error) != 0 && (counts) != 0 && (failure) == 0) {                   \
    (failure) = (dk_u64)(dk_u32)(error) | ((dk_u64)((address) + 1) << 32); \
  }

// Shows a failure to the host, if it is the first; control[2] is 0 before.
DK_FN void dk_show_failure(DK_GLOBAL dk_u64* control, dk_u64 failure) {
  dk_atomic_cas_global_u64(control + 2, 0, failure);
}

// The end of a kernel: the group that is done last copies what the host wants of the control block. Groups of a launch
// behind it with the same block are counted from 0 again.
DK_FN void dk_report(DK_GLOBAL dk_u64* control, DK_GLOBAL dk_u64* report) {
  DK_BARRIER();
  if (DK_LOCAL_ID == 0) {
    DK_FENCE_GLOBAL();
    if (dk_atomic_add_global_u64(control + 4, 1) + 1 == (dk_u64)DK_GROUP_COUNT) {
      DK_FENCE_GLOBAL();
      for (dk_i32 i = 1; i < 4; i++) report[i] = dk_atomic_load_global_u64(control + i);
      control[4] = 0;
    }
  }
}

DK_FN dk_interval dk_interval_of_words(dk_u64 months_and_days, dk_u64 microseconds) {
  dk_interval r;
  r.months = (dk_i32)(dk_u32)months_and_days;
  r.days = (dk_i32)(dk_u32)(months_and_days >> 32);
  r.microseconds = (dk_i64)microseconds;
  return r;
}
DK_FN dk_i128 dk_words_of_interval(dk_interval a) {
  dk_i128 r;
  r.lo = (dk_u64)(dk_u32)a.months | ((dk_u64)(dk_u32)a.days << 32);
  r.hi = a.microseconds;
  return r;
}

DK_FN dk_u64 dk_least_key(dk_u64 a, dk_u64 b) { return b < a ? b : a; }
DK_FN dk_u64 dk_greatest_key(dk_u64 a, dk_u64 b) { return a < b ? b : a; }
