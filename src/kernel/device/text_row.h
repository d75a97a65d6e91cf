// Strings that a section hands on, and room for those that it makes.
//
// A string leaves a section as where it is, not as what it is; other kernels (text_starts.h, text_copy.h) then write
// the strings of all rows one behind the other:
//
//   row        | address 0x700, 3 | address 0, 0 | address 0x710, 5 |    dk_i128: lo is the address, hi the length
//
// The text of functions is written to one area of device memory, of which every work-item takes what it needs:
//
//   *taken     bytes that were asked for so far, also those that there was no room for
#pragma once

// Functions that make strings are loops over bytes: once for each row they would take compilers seconds.
#define DK_FOR_ROWS_ROLLED(k) _Pragma("unroll 1") for (dk_i32 k = 0; k < DK_ROWS; k++)

// NULL and the empty string have no address.
DK_FN dk_i128 dk_text_row(DK_SPACES_PARAM, dk_text value, dk_bool is_there) {
  dk_i128 r;
  r.hi = is_there ? value.length : 0;
  r.lo = r.hi > 0 ? DK_ADDRESS_OF(value.data) : 0;
  return r;
}

// The place of so many bytes in the room; all bits are set when they don't fit.
DK_FN dk_u64 dk_take_text_room(DK_GLOBAL dk_u64* taken, dk_u64 room_bytes, dk_u64 bytes) {
  if (bytes == 0) return 0;
  dk_u64 place = dk_atomic_add_global_u64(taken, bytes);
  return place + bytes <= room_bytes ? place : ~DK_U64(0);
}

// What stands for a string that found no room, so that functions of it have something to read: the host asks what
// *taken has come to, and throws the results away.
DK_FN dk_text dk_text_without_room(DK_GLOBAL const char* room, dk_u64 room_bytes, dk_i32 length) {
  return dk_make_text(room, (dk_u64)length <= room_bytes ? length : (dk_i32)room_bytes);
}
