// Strings that are kept once, as offsets into their bytes: dictionaries, lookup tables of strings, IN lists.
//
//   offsets   0 3 7 11       bytes   AIRRAILSHIP
#pragma once

DK_FN dk_text dk_string(DK_GLOBAL const dk_u32* offsets, DK_GLOBAL const char* bytes, dk_u32 number) {
  return dk_make_text(bytes + offsets[number], (dk_i32)(offsets[number + 1] - offsets[number]));
}

// Whether a string is among so many, which are sorted.
DK_FN dk_bool dk_in_text(DK_GLOBAL const dk_u32* offsets, DK_GLOBAL const char* bytes, dk_i32 count, dk_text value) {
  dk_i32 low = 0;
  dk_i32 high = count;
  while (low < high) {
    dk_i32 middle = (low + high) >> 1;
    if (dk_lt_text(dk_string(offsets, bytes, (dk_u32)middle), value)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low == count ? 0 : dk_eq_text(dk_string(offsets, bytes, (dk_u32)low), value);
}
