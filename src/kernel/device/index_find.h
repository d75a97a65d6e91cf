// A built index in global memory: where the first row is that has a key.
//
//   slots    row + 1; 0: there is none                                u32
//   dense    the slot is key - low, of one whole number
//   table    open addressing with linear probing, from the upper bits of the hash on
//   keys     of each row, words of whole numbers and floats: what is equal has the same words
//
// A key that is not there has no slot: -1.
#pragma once

DK_FN dk_u64 dk_index_hash(DK_GLOBAL const dk_u64* key, dk_i32 words) {
  dk_u64 hash = dk_hash_i64((dk_i64)key[0]);
  for (dk_i32 i = 1; i < words; i++) hash = dk_hash_combine(hash, key[i]);
  return hash;
}

DK_FN dk_i64 dk_index_find(DK_GLOBAL const dk_u32* slots, dk_i32 bits, DK_GLOBAL const dk_u64* keys, dk_i32 words,
                           DK_PRIVATE const dk_u64* key) {
  const dk_u64 last = ((dk_u64)1 << bits) - 1;
  dk_u64 slot = dk_hash_words(key, words) >> (64 - bits);
  dk_i64 found = -1;
  for (dk_u32 row = slots[slot]; row != 0 && found < 0; row = slots[slot]) {
    DK_GLOBAL const dk_u64* at = keys + (dk_u64)(row - 1) * (dk_u64)words;
    dk_u64 difference = 0;
    for (dk_i32 i = 0; i < words; i++) difference |= at[i] ^ key[i];
    if (difference == 0) {
      found = (dk_i64)slot;
    } else {
      slot = (slot + 1) & last;
    }
  }
  return found;
}

DK_FN dk_i64 dk_index_find_dense(DK_GLOBAL const dk_u32* slots, dk_i64 low, dk_u64 span, dk_i64 key) {
  const dk_u64 slot = (dk_u64)key - (dk_u64)low;
  return slot < span && slots[slot] != 0 ? (dk_i64)slot : -1;
}
