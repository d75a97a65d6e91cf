// Rows of a section that meet very many rows of an index. The first launch of its kernel notes them, and its teams
// leave them alone; in the second one all groups of the grid share their pairs, a slice at a time.
//
//   word 0         how many rows are noted in the upper half, and how many slices they have in the lower one
//   words 2, 3     number of the first row's first slice | its tablet in the upper half, its place there in the lower
//   words 4, 5     the same of the second row, whose first slice comes behind the first row's last
#pragma once

// Notes a row with so many slices, if there is room for it; else it is not noted, and returns 0.
DK_FN dk_bool dk_note_long_row(DK_GLOBAL dk_u64* list, dk_u64 room, dk_u32 slices, dk_i64 tablet, dk_i32 row) {
  const dk_u64 more = DK_U64(1) << 32 | slices;
  const dk_u64 before = dk_atomic_add_global_u64(list, more);
  const dk_u64 place = before >> 32;
  if (place >= room) {
    dk_atomic_add_global_u64(list, DK_U64(0) - more);
    return 0;
  }
  list[2 + 2 * place] = before & DK_U64(0xFFFFFFFF);
  list[3 + 2 * place] = (dk_u64)tablet << 32 | (dk_u64)(dk_u32)row;
  return 1;
}

// The two words of the row that the slice belongs to: of the last one whose first slice is not behind it.
DK_FN DK_GLOBAL const dk_u64* dk_find_long_row(DK_GLOBAL const dk_u64* list, dk_i64 slice) {
  dk_i64 low = 0;
  dk_i64 high = (dk_i64)(list[0] >> 32) - 1;
  while (low < high) {
    dk_i64 middle = (low + high + 1) >> 1;
    if ((dk_i64)list[2 + 2 * middle] <= slice) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return list + 2 + 2 * low;
}
