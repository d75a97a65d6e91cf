// A built index in global memory: whether a key is there, and which rows have it.
//
//   dense    the place of a key, one whole number, is key - low; a bit for each place says whether the key is there
//   table    open addressing with linear probing, from the upper bits of the hash on; a slot has the lower half of the
//            hash above row + 1, 0: free. Few other rows' keys are looked at
//   keys     of each row of a table, words as a group's (group_table.h): whole numbers and floats, then a hash and the
//            length of each string, which are compared, then where the strings are
//   filter   of a table: two bits of a word of 32 for each hash. Most keys that are not there touch nothing else
#pragma once

// A word of the index's control: a key has several rows.
#define DK_INDEX_IS_REPEATED 0

DK_FN dk_u64 dk_index_hash(DK_GLOBAL const dk_u64* key, dk_i32 words) {
  dk_u64 hash = dk_hash_i64((dk_i64)key[0]);
  for (dk_i32 i = 1; i < words; i++) hash = dk_hash_combine(hash, key[i]);
  return hash;
}

DK_FN dk_u64 dk_index_entry(dk_u64 hash, dk_u32 row) { return hash << 32 | (row + 1); }
DK_FN dk_bool dk_index_may_be(dk_u64 entry, dk_u64 hash) { return entry >> 32 == (hash & DK_U64(0xFFFFFFFF)); }
DK_FN dk_u64 dk_index_row(dk_u64 entry) { return (entry & DK_U64(0xFFFFFFFF)) - 1; }

DK_FN dk_u32 dk_index_filter_bits(dk_u64 hash) { return 1U << (dk_u32)(hash & 31) | 1U << (dk_u32)(hash >> 5 & 31); }

// bits: of the number of the filter's words.
DK_FN dk_bool dk_index_may_have(DK_GLOBAL const dk_u32* filter, dk_i32 bits, dk_u64 hash) {
  const dk_u32 wanted = dk_index_filter_bits(hash);
  return (filter[hash >> (64 - bits)] & wanted) == wanted;
}

// Whether the key of a row is the one asked for: `compared` words, and `texts` strings, whose addresses are behind
// these.
#define DK_INDEX_HAS_KEY(name, qualifier)                                                                         \
  DK_NEAR dk_bool name(DK_SPACES_PARAM, DK_GLOBAL const dk_u64* at, qualifier const dk_u64* key, dk_i32 compared, \
                       dk_i32 texts) {                                                                            \
    dk_u64 difference = 0;                                                                                        \
    for (dk_i32 i = 0; i < compared; i++) difference |= at[i] ^ key[i];                                           \
    dk_bool same = difference == 0;                                                                               \
    for (dk_i32 i = 0; i < texts && same; i++)                                                                    \
      same = dk_same_bytes(DK_SPACES_ARG, at[compared + i], key[compared + i],                                    \
                           (dk_i64)(dk_u32)key[compared - texts + i]);                                            \
    return same;                                                                                                  \
  }
// clang-format off
DK_INDEX_HAS_KEY(dk_index_has_key, DK_PRIVATE)
DK_INDEX_HAS_KEY(dk_index_has_key_of_row, DK_GLOBAL)
// clang-format on

// The slot of a key, of which `entry` is the first that may have it, and is then its own; -1: it is not there. bits: of
// the number of slots; key_bytes: from one row's key to the next one's.
DK_FN dk_i64 dk_index_find(DK_SPACES_PARAM, DK_GLOBAL const dk_u64* slots, dk_i32 bits, DK_GLOBAL const dk_u8* keys,
                           dk_u64 key_bytes, dk_i32 compared, dk_i32 texts, DK_PRIVATE const dk_u64* key, dk_u64 hash,
                           DK_PRIVATE dk_u64* entry) {
  const dk_u64 last = ((dk_u64)1 << bits) - 1;
  dk_u64 slot = hash >> (64 - bits);
  while (*entry != 0) {
    if (dk_index_may_be(*entry, hash)) {
      DK_GLOBAL const dk_u64* at = (DK_GLOBAL const dk_u64*)(keys + dk_index_row(*entry) * key_bytes);
      if (dk_index_has_key(DK_SPACES_ARG, at, key, compared, texts)) return (dk_i64)slot;
    }
    slot = (slot + 1) & last;
    *entry = slots[slot];
  }
  return -1;
}
