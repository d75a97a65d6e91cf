// A built index in global memory: whether a key is there, and which rows have it.
//
//   dense    the place of a key, one whole number, is key - low; a bit for each place says whether the key is there
//   table    open addressing with linear probing, from the upper bits of the hash on; a slot has row + 1 in as many
//   bits
//            as it takes, 0: free, and above it lower bits of the hash: few other rows' keys are looked at
//   keys     of each row of a table, with a string as offset and length of 4 bytes each
//   filter   of a table: two bits of a word of 32 for each hash. Most keys that are not there touch nothing else
#pragma once

// A word of the index's control: a key has several rows.
#define DK_INDEX_IS_REPEATED 0

// row_bits: less than 32.
DK_FN dk_u32 dk_index_entry(dk_u64 hash, dk_u32 row, dk_i32 row_bits) { return (dk_u32)hash << row_bits | (row + 1); }
DK_FN dk_bool dk_index_may_be(dk_u32 entry, dk_u32 wanted, dk_i32 row_bits) {
  return (entry ^ wanted) >> row_bits == 0;
}
DK_FN dk_u32 dk_index_row(dk_u32 entry, dk_i32 row_bits) { return (entry & ((1U << row_bits) - 1)) - 1; }

DK_FN dk_u32 dk_index_filter_bits(dk_u64 hash) { return 1U << (dk_u32)(hash & 31) | 1U << (dk_u32)(hash >> 5 & 31); }

// bits: of the number of the filter's words.
DK_FN dk_bool dk_index_may_have(DK_GLOBAL const dk_u32* filter, dk_i32 bits, dk_u64 hash) {
  const dk_u32 wanted = dk_index_filter_bits(hash);
  return (filter[hash >> (64 - bits)] & wanted) == wanted;
}
