// Columns into registers: R consecutive slots of a column by one work-item, with the widest loads there are.
//
//   codes of 1 byte, R = 4, first = 8:    | 0..3 | 4..7 |[8..11]| ...      one load of 4 bytes, out[0..3]
//
// R is 1, 4, 8 or 16 and part of the name; `first` is a multiple of it. A column starts on a multiple of 64 bytes, no
// one writes it while the kernel runs, and it is readable up to the next multiple of R times its width: what is beyond
// its last slot is loaded too, and is any value.
#pragma once

// ---- words of 4 bytes; `at` is aligned to all of them, or to 16 bytes

DK_FN void dk_load_words1(DK_GLOBAL const dk_u8* at, DK_PRIVATE dk_u32* words){DK_LOAD_X1(at, words)} DK_FN
    void dk_load_words2(DK_GLOBAL const dk_u8* at, DK_PRIVATE dk_u32* words){DK_LOAD_X2(at, words)} DK_FN
    void dk_load_words4(DK_GLOBAL const dk_u8* at, DK_PRIVATE dk_u32* words) {
  DK_LOAD_X4(at, words)
}
#define DK_LOAD_WORDS(count, part)                                                       \
  DK_FN void dk_load_words##count(DK_GLOBAL const dk_u8* at, DK_PRIVATE dk_u32* words) { \
    dk_load_words##part(at, words);                                                      \
    dk_load_words##part(at + 4 * part, words + part);                                    \
  }
// clang-format off
DK_LOAD_WORDS(8, 4)
DK_LOAD_WORDS(16, 8)
DK_LOAD_WORDS(32, 16)
DK_LOAD_WORDS(64, 32)
// clang-format on

// ---- codes and plain values: dk_load<R>_<type>(column, first, out)

// Element i of the words that hold elements of that many bytes.
#define DK_ELEMENT_1(words, i) (((words)[(i) >> 2] >> (8 * ((i)&3))) & 0xFFU)
#define DK_ELEMENT_2(words, i) (((words)[(i) >> 1] >> (16 * ((i)&1))) & 0xFFFFU)
#define DK_ELEMENT_4(words, i) ((words)[i])
#define DK_ELEMENT_8(words, i) ((dk_u64)(words)[2 * (i)] | ((dk_u64)(words)[2 * (i) + 1] << 32))

#define DK_LOAD_OF(R, suffix, type, width, words_count, CONVERT)                                        \
  DK_FN void dk_load##R##_##suffix(DK_GLOBAL const dk_u8* column, dk_i64 first, DK_PRIVATE type* out) { \
    dk_u32 words[words_count];                                                                          \
    dk_load_words##words_count(column + first * width, words);                                          \
    DK_UNROLL for (dk_i32 i = 0; i < R; i++) { out[i] = CONVERT(DK_ELEMENT_##width(words, i)); }        \
  }

#define DK_LOAD_IDENTITY(a) (a)
#define DK_LOAD_BOOL(a) ((dk_bool)(a))
#define DK_LOAD_I32(a) ((dk_i32)(a))
#define DK_LOAD_I64(a) ((dk_i64)(a))

// One row per width and R, for the words that make it up.
#define DK_LOADS_OF(R, words1, words2, words4, words8, words16) \
  DK_LOAD_OF(R, u8, dk_u32, 1, words1, DK_LOAD_IDENTITY)        \
  DK_LOAD_OF(R, bool, dk_bool, 1, words1, DK_LOAD_BOOL)         \
  DK_LOAD_OF(R, u16, dk_u32, 2, words2, DK_LOAD_IDENTITY)       \
  DK_LOAD_OF(R, u32, dk_u32, 4, words4, DK_LOAD_IDENTITY)       \
  DK_LOAD_OF(R, i32, dk_i32, 4, words4, DK_LOAD_I32)            \
  DK_LOAD_OF(R, f32, dk_f32, 4, words4, DK_F32_OF_BITS)         \
  DK_LOAD_OF(R, u64, dk_u64, 8, words8, DK_LOAD_IDENTITY)       \
  DK_LOAD_OF(R, i64, dk_i64, 8, words8, DK_LOAD_I64)            \
  DK_LOAD_OF(R, f64, dk_f64, 8, words8, DK_F64_OF_BITS)         \
  DK_LOAD_I128_OF(R, words16)                                   \
  DK_LOAD_INTERVAL_OF(R, words16)                               \
  DK_LOAD_CODES_OF(R)

#define DK_LOAD_I128_OF(R, words_count)                                                                \
  DK_FN void dk_load##R##_i128(DK_GLOBAL const dk_u8* column, dk_i64 first, DK_PRIVATE dk_i128* out) { \
    dk_u32 words[words_count];                                                                         \
    dk_load_words##words_count(column + first * 16, words);                                            \
    DK_UNROLL for (dk_i32 i = 0; i < R; i++) {                                                         \
      out[i].lo = DK_ELEMENT_8(words, 2 * i);                                                          \
      out[i].hi = (dk_i64)DK_ELEMENT_8(words, 2 * i + 1);                                              \
    }                                                                                                  \
  }

#define DK_LOAD_INTERVAL_OF(R, words_count)                                                                    \
  DK_FN void dk_load##R##_interval(DK_GLOBAL const dk_u8* column, dk_i64 first, DK_PRIVATE dk_interval* out) { \
    dk_u32 words[words_count];                                                                                 \
    dk_load_words##words_count(column + first * 16, words);                                                    \
    DK_UNROLL for (dk_i32 i = 0; i < R; i++) {                                                                 \
      out[i].months = (dk_i32)words[4 * i];                                                                    \
      out[i].days = (dk_i32)words[4 * i + 1];                                                                  \
      out[i].microseconds = (dk_i64)DK_ELEMENT_8(words, 2 * i + 1);                                            \
    }                                                                                                          \
  }

// Codes whose width, 0 (all are 0, and there is no memory), 1, 2, 4 or 8, is known when the kernel runs.
#define DK_LOAD_CODES_OF(R)                                                                                          \
  DK_FN void dk_load##R##_codes(DK_GLOBAL const dk_u8* column, dk_i32 width, dk_i64 first, DK_PRIVATE dk_u64* out) { \
    if (width == 8) {                                                                                                \
      dk_load##R##_u64(column, first, out);                                                                          \
    } else {                                                                                                         \
      dk_u32 narrow[R];                                                                                              \
      if (width == 4) {                                                                                              \
        dk_load##R##_u32(column, first, narrow);                                                                     \
      } else if (width == 2) {                                                                                       \
        dk_load##R##_u16(column, first, narrow);                                                                     \
      } else if (width == 1) {                                                                                       \
        dk_load##R##_u8(column, first, narrow);                                                                      \
      } else {                                                                                                       \
        DK_UNROLL for (dk_i32 i = 0; i < R; i++) { narrow[i] = 0; }                                                  \
      }                                                                                                              \
      DK_UNROLL for (dk_i32 i = 0; i < R; i++) { out[i] = narrow[i]; }                                               \
    }                                                                                                                \
  }

// clang-format off
DK_LOADS_OF(4, 1, 2, 4, 8, 16)
DK_LOADS_OF(8, 2, 4, 8, 16, 32)
DK_LOADS_OF(16, 4, 8, 16, 32, 64)
// clang-format on

// One slot: loads of its own width.
#define DK_LOAD_ONE(suffix, type, stored, CONVERT)                                                  \
  DK_FN void dk_load1_##suffix(DK_GLOBAL const dk_u8* column, dk_i64 first, DK_PRIVATE type* out) { \
    out[0] = CONVERT(((DK_GLOBAL const stored*)column)[first]);                                     \
  }
// clang-format off
DK_LOAD_ONE(u8, dk_u32, dk_u8, DK_LOAD_IDENTITY)
DK_LOAD_ONE(bool, dk_bool, dk_u8, DK_LOAD_BOOL)
DK_LOAD_ONE(u16, dk_u32, dk_u16, DK_LOAD_IDENTITY)
DK_LOAD_ONE(u32, dk_u32, dk_u32, DK_LOAD_IDENTITY)
DK_LOAD_ONE(i32, dk_i32, dk_i32, DK_LOAD_IDENTITY)
DK_LOAD_ONE(f32, dk_f32, dk_f32, DK_LOAD_IDENTITY)
DK_LOAD_ONE(u64, dk_u64, dk_u64, DK_LOAD_IDENTITY)
DK_LOAD_ONE(i64, dk_i64, dk_i64, DK_LOAD_IDENTITY)
DK_LOAD_ONE(f64, dk_f64, dk_f64, DK_LOAD_IDENTITY)
DK_LOAD_I128_OF(1, 4)
DK_LOAD_INTERVAL_OF(1, 4)
DK_LOAD_CODES_OF(1)
// clang-format on

// Bits `first` to first + R - 1 of a bitmap, the lowest bit first; R is 1, 4, 8 or 16.
DK_FN dk_u32 dk_validity_bits(DK_GLOBAL const dk_u8* bitmap, dk_i64 first, dk_i32 R) {
  if (R == 16) return *(DK_GLOBAL const dk_u16*)(bitmap + (first >> 3));
  return ((dk_u32)bitmap[first >> 3] >> (first & 7)) & ((1U << R) - 1U);
}

// ---- what a code stands for: base + factor * code, which fits

DK_FN dk_i64 dk_decode_code_i64(dk_u64 code, dk_i64 base, dk_i64 factor) {
  return (dk_i64)((dk_u64)base + (dk_u64)factor * code);
}
DK_FN dk_i32 dk_decode_code_i32(dk_u32 code, dk_i32 base, dk_i32 factor) {
  return (dk_i32)((dk_u32)base + (dk_u32)factor * code);
}
