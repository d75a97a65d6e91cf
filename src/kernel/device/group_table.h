// A hash table of groups, in the shared memory of a work-group or in global memory: open addressing, keys of a fixed
// number of words.
//
//   slots     0: empty, 1: being written, else bits of the hash, with bit 1 set        one u32 each
//   keys      slot * words + i                    u64
//   a key     |NULL bits, whole numbers, floats|strings: hash, length|strings: address|what is not compared|
//             |<-              `compared` words                    ->|
//
// Floats are normalised, NULLs are 0 with their bits in a word. Keys are equal when the compared words are, and the
// bytes of their `texts` strings (group_text.h). All words are 0 at first. A group's number is its slot, by which the
// caller finds its aggregates. A key that no slot is left for finds none.
//
//   dk_group_find_or_add_<space>(spaces, used, slots, keys, count, limit, words, compared, texts, key, first, stride,
//                                tag)
#pragma once

#define DK_SLOT_EMPTY 0U
#define DK_SLOT_BUSY 1U
#define DK_SLOT_READY 2U

// Of the words of a key.
DK_FN dk_u64 dk_hash_words(DK_PRIVATE const dk_u64* key, dk_i32 words) {
  dk_u64 hash = dk_hash_i64((dk_i64)key[0]);
  DK_UNROLL for (dk_i32 i = 1; i < words; i++) { hash = dk_hash_combine(hash, key[i]); }
  return hash;
}

// One word for all floats that are equal.
DK_FN dk_u64 dk_key_word_f64(dk_f64 a) { return a == 0 ? 0 : a != a ? DK_U64(0x7FF8000000000000) : DK_F64_BITS(a); }

// find_or_add: the slot of the group with that key, which is added when it is new and fewer than `limit` slots are
// used; -1: it found none. The search begins with slot `first` of `count` and goes on by `stride` slots, less than
// count: 1 where slots side by side are read at once; in shared memory others, by the hash, as runs of full slots would
// hold up a whole warp. tag: bits of the hash. Each work-item calls it by itself. A slot that another one is just
// writing is looked at again; whoever writes does so within one turn of the loop, so that it never waits for those that
// look. The key is written before the slot says so; and who is not the first to write looks again, so that it reads the
// slot in order with its key: the fence and the exchange release what the load of the slot acquires, and until then
// nobody but the writer touches the key.
#define DK_GROUP_TABLE_IN(space, qualifier, FENCE, number)                                                            \
  DK_NEAR dk_bool dk_group_has_key_##space(DK_SPACES_PARAM, qualifier const dk_u64* at, DK_PRIVATE const dk_u64* key, \
                                           dk_i32 compared, dk_i32 texts) {                                           \
    dk_u64 difference = 0;                                                                                            \
    DK_UNROLL for (dk_i32 i = 0; i < compared; i++) { difference |= dk_atomic_load_##space##_u64(at + i) ^ key[i]; }  \
    dk_bool same = difference == 0;                                                                                   \
    DK_UNROLL for (dk_i32 i = 0; i < texts; i++) {                                                                    \
      if (same)                                                                                                       \
        same = dk_same_bytes(DK_SPACES_ARG, dk_atomic_load_##space##_u64(at + compared + i), key[compared + i],       \
                             (dk_i64)(dk_u32)key[compared - texts + i]);                                              \
    }                                                                                                                 \
    return same;                                                                                                      \
  }                                                                                                                   \
  DK_NEAR void dk_group_write_##space(qualifier dk_u32* slot, dk_u32 ready, qualifier dk_u64* at,                     \
                                      DK_PRIVATE const dk_u64* key, dk_i32 words) {                                   \
    DK_UNROLL for (dk_i32 i = 0; i < words; i++) { dk_atomic_store_##space##_u64(at + i, key[i]); }                   \
    FENCE();                                                                                                          \
    dk_atomic_exchange_##space##_u32(slot, ready);                                                                    \
  }                                                                                                                   \
  DK_NEAR dk_i64 dk_group_find_or_add_##space(DK_SPACES_PARAM, qualifier dk_u32* used, qualifier dk_u32* slots,       \
                                              qualifier dk_u64* keys, number count, dk_u32 limit, dk_i32 words,       \
                                              dk_i32 compared, dk_i32 texts, DK_PRIVATE const dk_u64* key,            \
                                              number first, number stride, dk_u32 tag) {                              \
    const dk_u32 ready = tag | DK_SLOT_READY;                                                                         \
    number slot = first;                                                                                              \
    number passed = 0;                                                                                                \
    dk_i64 found = -1;                                                                                                \
    while (found < 0 && passed < count) {                                                                             \
      dk_u32 state = dk_load_acquire_##space##_u32(slots + slot);                                                     \
      if (state == DK_SLOT_EMPTY) {                                                                                   \
        if (dk_atomic_load_##space##_u32(used) >= limit) {                                                            \
          passed = count;                                                                                             \
        } else {                                                                                                      \
          if (dk_atomic_cas_##space##_u32(slots + slot, DK_SLOT_EMPTY, DK_SLOT_BUSY) == DK_SLOT_EMPTY) {              \
            dk_group_write_##space(slots + slot, ready, keys + slot * (number)words, key, words);                     \
            dk_atomic_add_##space##_u32(used, 1);                                                                     \
            found = (dk_i64)slot;                                                                                     \
          }                                                                                                           \
        }                                                                                                             \
      } else if (state == ready &&                                                                                    \
                 dk_group_has_key_##space(DK_SPACES_ARG, keys + slot * (number)words, key, compared, texts)) {        \
        found = (dk_i64)slot;                                                                                         \
      } else if (state != DK_SLOT_BUSY) {                                                                             \
        slot = slot + stride < count ? slot + stride : slot + stride - count;                                         \
        passed++;                                                                                                     \
      }                                                                                                               \
    }                                                                                                                 \
    return found;                                                                                                     \
  }

// clang-format off
DK_GROUP_TABLE_IN(global, DK_GLOBAL, DK_FENCE_GLOBAL, dk_u64)
DK_GROUP_TABLE_IN(local, DK_LOCAL, DK_FENCE_LOCAL, dk_u32)
// clang-format on
