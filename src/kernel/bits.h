// Bit operators of SQL, and the decoding of tablet columns: codes against a frame of reference, validity bitmaps.
#pragma once

// ---- SQL operators; a smallint is held in 32 bits

DK_FN dk_i32 dk_and_i16(dk_i32 a, dk_i32 b) { return a & b; }
DK_FN dk_i32 dk_and_i32(dk_i32 a, dk_i32 b) { return a & b; }
DK_FN dk_i64 dk_and_i64(dk_i64 a, dk_i64 b) { return a & b; }
DK_FN dk_i32 dk_or_i16(dk_i32 a, dk_i32 b) { return a | b; }
DK_FN dk_i32 dk_or_i32(dk_i32 a, dk_i32 b) { return a | b; }
DK_FN dk_i64 dk_or_i64(dk_i64 a, dk_i64 b) { return a | b; }
DK_FN dk_i32 dk_xor_i16(dk_i32 a, dk_i32 b) { return a ^ b; }
DK_FN dk_i32 dk_xor_i32(dk_i32 a, dk_i32 b) { return a ^ b; }
DK_FN dk_i64 dk_xor_i64(dk_i64 a, dk_i64 b) { return a ^ b; }
DK_FN dk_i32 dk_not_i16(dk_i32 a) { return ~a; }
DK_FN dk_i32 dk_not_i32(dk_i32 a) { return ~a; }
DK_FN dk_i64 dk_not_i64(dk_i64 a) { return ~a; }

// The count modulo the width, as x86 shifts, which is what PostgreSQL shows there.
DK_FN dk_i32 dk_shift_left_i32(dk_i32 a, dk_i32 count) { return (dk_i32)((dk_u32)a << (count & 31)); }
DK_FN dk_i64 dk_shift_left_i64(dk_i64 a, dk_i32 count) { return (dk_i64)((dk_u64)a << (count & 63)); }
DK_FN dk_i32 dk_shift_left_i16(dk_i32 a, dk_i32 count) { return (dk_i16)(dk_u16)((dk_u32)a << (count & 31)); }
DK_FN dk_i32 dk_shift_right_i32(dk_i32 a, dk_i32 count) { return a >> (count & 31); }
DK_FN dk_i64 dk_shift_right_i64(dk_i64 a, dk_i32 count) { return a >> (count & 63); }
DK_FN dk_i32 dk_shift_right_i16(dk_i32 a, dk_i32 count) { return a >> (count & 31); }

// ---- columns: value = base + factor * code; codes are unsigned, of 1, 2, 4 or 8 bytes

DK_FN dk_i64 dk_decode_u8(DK_GLOBAL const dk_u8* codes, dk_i64 slot, dk_i64 base, dk_i64 factor) {
  return (dk_i64)((dk_u64)base + (dk_u64)factor * codes[slot]);
}
DK_FN dk_i64 dk_decode_u16(DK_GLOBAL const dk_u16* codes, dk_i64 slot, dk_i64 base, dk_i64 factor) {
  return (dk_i64)((dk_u64)base + (dk_u64)factor * codes[slot]);
}
DK_FN dk_i64 dk_decode_u32(DK_GLOBAL const dk_u32* codes, dk_i64 slot, dk_i64 base, dk_i64 factor) {
  return (dk_i64)((dk_u64)base + (dk_u64)factor * codes[slot]);
}
DK_FN dk_i64 dk_decode_u64(DK_GLOBAL const dk_u64* codes, dk_i64 slot, dk_i64 base, dk_i64 factor) {
  return (dk_i64)((dk_u64)base + (dk_u64)factor * codes[slot]);
}

// The same for 32-bit registers: all in 32 bits, so that a vector holds twice as many; the value fits, so wrapping is
// exact.
DK_FN dk_i32 dk_decode32_u8(DK_GLOBAL const dk_u8* codes, dk_i64 slot, dk_i32 base, dk_i32 factor) {
  return (dk_i32)((dk_u32)base + (dk_u32)factor * codes[slot]);
}
DK_FN dk_i32 dk_decode32_u16(DK_GLOBAL const dk_u16* codes, dk_i64 slot, dk_i32 base, dk_i32 factor) {
  return (dk_i32)((dk_u32)base + (dk_u32)factor * codes[slot]);
}
DK_FN dk_i32 dk_decode32_u32(DK_GLOBAL const dk_u32* codes, dk_i64 slot, dk_i32 base, dk_i32 factor) {
  return (dk_i32)((dk_u32)base + (dk_u32)factor * codes[slot]);
}

// Bit `slot` of a bitmap whose bytes hold eight slots each, the lowest bit first; 1 means not null.
DK_FN dk_bool dk_is_valid(DK_GLOBAL const dk_u8* bitmap, dk_i64 slot) { return (bitmap[slot >> 3] >> (slot & 7)) & 1; }
