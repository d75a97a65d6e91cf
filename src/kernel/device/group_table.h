// A hash table of groups in global memory: open addressing with linear probing, keys of a fixed number of words.
//
//   control   used groups | overflow              u64 each
//   states    0: empty, 1: being written, else the upper half of the hash, with bit 1 set        one u32 a slot
//   keys      slot * words + i                    u64; floats normalised, NULLs as 0 with their bits in a word
//
// slots is a power of two. All of states and control is 0 before the kernel starts. A group's number is its slot, by
// which the caller finds its aggregates. When more than `limit` groups come, or no slot is free, some rows find none:
// then control[1] is 1, nothing in the table is of use, and the host runs the kernel again with a larger one.
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

DK_FN dk_bool dk_group_has_key(DK_GLOBAL const dk_u64* at, DK_PRIVATE const dk_u64* key, dk_i32 words) {
  dk_u64 difference = 0;
  DK_UNROLL for (dk_i32 i = 0; i < words; i++) { difference |= dk_load_volatile_u64(at + i) ^ key[i]; }
  return difference == 0;
}

// The key is written before the state says so.
DK_FN void dk_group_write(DK_GLOBAL dk_u32* state, dk_u32 ready, DK_GLOBAL dk_u64* at, DK_PRIVATE const dk_u64* key,
                          dk_i32 words) {
  DK_UNROLL for (dk_i32 i = 0; i < words; i++) { dk_store_volatile_u64(at + i, key[i]); }
  DK_FENCE_GLOBAL();
  dk_atomic_exchange_global_u32(state, ready);
}

// The slot of the group with that key, which is added when it is new; -1: it found none. Each work-item calls it by
// itself. A slot that another one is just writing is looked at again; whoever writes does so within one turn of the
// loop, so that it never waits for those that look.
DK_FN dk_i64 dk_group_find_or_add(DK_GLOBAL dk_u64* control, DK_GLOBAL dk_u32* states, DK_GLOBAL dk_u64* keys,
                                  dk_u64 slots, dk_u64 limit, dk_i32 words, DK_PRIVATE const dk_u64* key, dk_u64 hash) {
  const dk_u32 ready = (dk_u32)(hash >> 32) | DK_SLOT_READY;
  dk_u64 slot = hash & (slots - 1);
  dk_u64 passed = 0;
  dk_i64 found = -1;
  while (found < 0 && passed < slots) {
    dk_u32 state = dk_load_acquire_u32(states + slot);
    if (state == DK_SLOT_EMPTY) {
      if (dk_load_volatile_u64(control) >= limit) {
        passed = slots;
      } else {
        // Who is not the first looks again, so that it reads the state in order with its key.
        if (dk_atomic_cas_global_u32(states + slot, DK_SLOT_EMPTY, DK_SLOT_BUSY) == DK_SLOT_EMPTY) {
          dk_group_write(states + slot, ready, keys + slot * words, key, words);
          dk_atomic_add_global_u64(control, 1);
          found = (dk_i64)slot;
        }
      }
    } else if (state == ready && dk_group_has_key(keys + slot * words, key, words)) {
      found = (dk_i64)slot;
    } else if (state != DK_SLOT_BUSY) {
      slot = (slot + 1) & (slots - 1);
      passed++;
    }
  }
  if (found < 0) dk_store_volatile_u64(control + 1, 1);
  return found;
}
