// Ordering rows by arrays of u64 words, around a sort of pairs (u64 key, u32 row number):
//
//   dk_sort_bits     which bits of a word are not the same in all rows
//   dk_sort_keys     the key of each row, from such bits of one or more words
//   dk_gather_<n>    elements of n bytes in the order of row numbers
#pragma once

#define DK_SORT_STEP ((dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE)
#define DK_SORT_ITEM ((dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID)

// rows, words, results: two words a group, the bits that are 1 in a row and those that are 0 in a row
DK_KERNEL void dk_sort_bits(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* words = DK_AT(dk_u64, parameters.word[1]);
  DK_GLOBAL dk_u64* results = DK_AT(dk_u64, parameters.word[2]);
  dk_u64 ones = 0;
  dk_u64 zeros = 0;
  for (dk_i64 i = DK_SORT_ITEM; i < rows; i += DK_SORT_STEP) {
    ones |= words[i];
    zeros |= ~words[i];
  }
  ones = dk_block_or_u64(ones, scratch);
  zeros = dk_block_or_u64(zeros, scratch);
  if (DK_LOCAL_ID == 0) {
    results[2 * DK_GROUP_ID] = ones;
    results[2 * DK_GROUP_ID + 1] = zeros;
  }
}

// rows, keys to write, values, what the values are, fields; then for each field, the most significant first: words,
// lowest bit and number of bits of it. Values: 0: row numbers to be read; 1: to be written, 0, 1, ...; 2: none, the
// keys are those of rows 0, 1, ...
DK_KERNEL void dk_sort_keys(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  DK_GLOBAL dk_u32* values = DK_AT(dk_u32, parameters.word[2]);
  dk_i32 use = (dk_i32)parameters.word[3];
  dk_i32 fields = (dk_i32)parameters.word[4];
  for (dk_i64 i = DK_SORT_ITEM; i < rows; i += DK_SORT_STEP) {
    dk_i64 row = use == 0 ? (dk_i64)values[i] : i;
    dk_u64 key = 0;
    for (dk_i32 field = 0; field < fields; field++) {
      dk_u64 word = DK_AT(dk_u64, parameters.word[5 + 3 * field])[row];
      dk_i32 shift = (dk_i32)parameters.word[6 + 3 * field];
      dk_i32 bits = (dk_i32)parameters.word[7 + 3 * field];
      // A field of 64 bits is the only one, and a key of 0 need not make room for it.
      key = bits == 64 ? word : key << bits | (word >> shift & ((DK_U64(1) << bits) - 1));
    }
    keys[i] = key;
    if (use == 1) values[i] = (dk_u32)i;
  }
}

// rows, row numbers, from, to: to[i] = from[number[i]]
#define DK_GATHER(bytes, type)                                                                                         \
  DK_KERNEL void dk_gather_##bytes(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) { \
    dk_i64 rows = (dk_i64)parameters.word[0];                                                                          \
    DK_GLOBAL const dk_u32* numbers = DK_AT(dk_u32, parameters.word[1]);                                               \
    DK_GLOBAL const type* from = DK_AT(type, parameters.word[2]);                                                      \
    DK_GLOBAL type* to = DK_AT(type, parameters.word[3]);                                                              \
    for (dk_i64 i = DK_SORT_ITEM; i < rows; i += DK_SORT_STEP) to[i] = from[numbers[i]];                               \
  }

DK_GATHER(1, dk_u8)
DK_GATHER(2, dk_u16)
DK_GATHER(4, dk_u32)
DK_GATHER(8, dk_u64)
DK_GATHER(16, dk_i128)
