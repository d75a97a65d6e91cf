// Codes of a byte each, four to a word as they are stored, compared all four at once.
//
//   word   | code 3 | code 2 | code 1 | code 0 |    -> bit i of the mask: code i is over the bound
//
// Adding to the lower seven bits of each byte what is missing to 128 carries into its top bit, and into no other byte;
// L. Lamport: Multiple Byte Processing with Full-Word Instructions (1975).
#pragma once

#define DK_TOP_BITS 0x80808080U

// The bound that codes are over when their values, base + code, are greater than `value`: -1 (all are) to 255 (none
// is).
DK_FN dk_i32 dk_bound_above(dk_i64 value, dk_i64 base) {
  if (value < base) return -1;
  dk_u64 code = (dk_u64)value - (dk_u64)base;
  return code > 255 ? 255 : (dk_i32)code;
}
// The same, when they are `value` or greater.
DK_FN dk_i32 dk_bound_from(dk_i64 value, dk_i64 base) {
  if (value <= base) return -1;
  dk_u64 code = (dk_u64)value - (dk_u64)base;
  return code > 255 ? 255 : (dk_i32)code - 1;
}

// Top bits of the bytes that are over a bound of 0 to 255. rest: 127 less the bound's lower seven bits, in every byte;
// low: all bits, where the bound is below 128, else none.
DK_FN dk_u32 dk_bytes_over(dk_u32 bytes, dk_u32 rest, dk_u32 low) {
  dk_u32 carried = (bytes & ~DK_TOP_BITS) + rest;
  return ((carried & bytes) | ((carried | bytes) & low)) & DK_TOP_BITS;
}

// dk_codes_over<R>_u8(words, bound): a mask of the R codes, R of 4, 8 or 16, that are over it; bound is -1 to 255.
// The top bits of eight codes, each weighed with its bit of the mask, add up to 128 times that part of the mask.
#define DK_CODES_OVER_OF(R, words_count)                                               \
  DK_FN dk_u32 dk_codes_over##R##_u8(DK_PRIVATE const dk_u32* words, dk_i32 bound) {   \
    dk_u32 rest = (dk_u32)(127 - (bound & 127)) * 0x01010101U;                         \
    dk_u32 low = bound < 128 ? 0xFFFFFFFFU : 0U;                                       \
    dk_u32 mask = 0;                                                                   \
    DK_UNROLL for (dk_i32 i = 0; i < words_count; i += 2) {                            \
      dk_u32 eight = DK_DOT_U8(dk_bytes_over(words[i], rest, low), 0x08040201U, 0U);   \
      if (i + 1 < words_count) {                                                       \
        eight = DK_DOT_U8(dk_bytes_over(words[i + 1], rest, low), 0x80402010U, eight); \
      }                                                                                \
      mask |= eight >> 7 << 4 * i;                                                     \
    }                                                                                  \
    return bound < 0 ? 0xFFFFFFFFU >> (32 - R) : mask;                                 \
  }

// clang-format off
DK_CODES_OVER_OF(4, 1)
DK_CODES_OVER_OF(8, 2)
DK_CODES_OVER_OF(16, 4)
// clang-format on
