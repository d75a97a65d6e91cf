// States of many groups, in the shared memory of a work-group or in global memory, updated row by row. They are those
// of aggregate.h, but that all of them are empty when they are 0: a least value is kept as the greatest complement.
//
//   group   |came, present|count|sum lo|sum hi|~least key| ... |lock|       words of 64 bits
//
// In shared memory a group has several replicas, which the lanes of a warp take in turn, so that they do not meet; at
// the end the replicas of a group are put together and added to global memory. Where groups are too many for that, the
// first ones that a work-group meets have entries in shared memory, and the others' states are in global memory at
// once: mostly few of the possible groups are there, and their rows would all meet in the same words.
//
//   dk_find_entry(tags, entries, group)                 the entry of a group, or -1
//   dk_raise_<space>_u64(at, key)                       greatest of keys
//   dk_locked_raise_<space>_u128(lock, at, key)         the same of two words, unsigned
//   dk_merge_<kind>(from, replicas, stride, lock, to)   from local replicas, `stride` words apart, to one global state
#pragma once

#define DK_GROUP_STATES_IN(space, qualifier)                                                                        \
  DK_SHARED_FN void dk_raise_##space##_u64(qualifier dk_u64* at, dk_u64 key) {                                      \
    if (key > dk_atomic_load_##space##_u64(at)) dk_atomic_max_##space##_u64(at, key);                               \
  }                                                                                                                 \
  DK_SHARED_FN void dk_raise_to_##space##_u128(qualifier dk_u64* at, dk_u128 key) {                                 \
    const dk_u64 hi = dk_atomic_load_##space##_u64(at + 1);                                                         \
    if (key.hi > hi || (key.hi == hi && key.lo > dk_atomic_load_##space##_u64(at))) {                               \
      dk_atomic_store_##space##_u64(at, key.lo);                                                                    \
      dk_atomic_store_##space##_u64(at + 1, key.hi);                                                                \
    }                                                                                                               \
  }                                                                                                                 \
  DK_SHARED_FN void dk_locked_raise_##space##_u128(qualifier dk_u32* lock, qualifier dk_u64* at, dk_u128 key) {     \
    if (key.hi >= dk_atomic_load_##space##_u64(at + 1)) DK_LOCKED(space, lock, dk_raise_to_##space##_u128(at, key)) \
  }

// clang-format off
DK_GROUP_STATES_IN(global, DK_GLOBAL)
DK_GROUP_STATES_IN(local, DK_LOCAL)
// clang-format on

// The entry of the group, which it takes if it is free; -1: those that it may have are other groups'. tags: of each
// entry the group + 1; 0: it is free. entries: a power of two.
DK_SHARED_FN dk_i32 dk_find_entry(DK_LOCAL dk_u32* tags, dk_u32 entries, dk_u32 group) {
  dk_u32 entry = (group * 0x9E3779B1U >> 16) & (entries - 1);
  for (dk_i32 i = 0; i < 4; i++) {
    dk_u32 tag = dk_atomic_load_local_u32(tags + entry);
    if (tag == 0) tag = dk_atomic_cas_local_u32(tags + entry, 0, group + 1);
    if (tag == 0 || tag == group + 1) return (dk_i32)entry;
    entry = (entry + 1) & (entries - 1);
  }
  return -1;
}

// Unsigned, in the order of the values.
DK_FN dk_u128 dk_key_i128(dk_i128 a) {
  dk_u128 r;
  r.lo = a.lo;
  r.hi = (dk_u64)a.hi ^ DK_U64(0x8000000000000000);
  return r;
}
DK_FN dk_i128 dk_i128_of_key(dk_u128 key) {
  return dk_make_i128((dk_i64)(key.hi ^ DK_U64(0x8000000000000000)), key.lo);
}
DK_FN dk_u128 dk_complement_u128(dk_u128 a) {
  a.lo = ~a.lo;
  a.hi = ~a.hi;
  return a;
}

// What came, and whether the group has rows: two halves of the first word.
DK_SHARED_FN void dk_merge_notes(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_u64 all = 0;
  for (dk_i32 i = 0; i < replicas; i++) all |= from[i * stride];
  if ((dk_u32)all != 0) dk_note_global((DK_GLOBAL dk_u32*)to, (dk_u32)all);
  if ((dk_u32)(all >> 32) != 0) dk_note_global((DK_GLOBAL dk_u32*)to + 1, (dk_u32)(all >> 32));
}

DK_SHARED_FN void dk_merge_sum_u64(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_u64 sum = 0;
  for (dk_i32 i = 0; i < replicas; i++) sum += from[i * stride];
  if (sum != 0) dk_atomic_add_global_u64(to, sum);
}

DK_SHARED_FN void dk_merge_sum_f64(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_f64 sum = 0;
  for (dk_i32 i = 0; i < replicas; i++) sum += DK_F64_OF_BITS(from[i * stride]);
  if (sum != 0) dk_atomic_add_global_f64((DK_GLOBAL dk_f64*)to, sum);
}

DK_SHARED_FN void dk_merge_sum_i128(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_i128 sum = dk_widen_i64(0);
  for (dk_i32 i = 0; i < replicas; i++)
    sum = dk_add_unchecked_i128(sum, dk_make_i128((dk_i64)from[i * stride + 1], from[i * stride]));
  if (sum.lo != 0 || sum.hi != 0) dk_atomic_add_global_i128(to, sum);
}

// To a sum of 128 bits.
DK_SHARED_FN void dk_merge_sum_i64(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_i64 sum = 0;
  for (dk_i32 i = 0; i < replicas; i++) sum += (dk_i64)from[i * stride];
  if (sum != 0) dk_atomic_add_global_i128(to, dk_widen_i64(sum));
}

DK_SHARED_FN void dk_merge_sum192(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_sum192 sum = dk_sum192_of_i64(0);
  for (dk_i32 i = 0; i < replicas; i++) {
    dk_sum192 part;
    part.lo = from[i * stride];
    part.mid = from[i * stride + 1];
    part.hi = from[i * stride + 2];
    sum = dk_add_sum192(sum, part);
  }
  dk_atomic_add_global_sum192(to, sum);
}

DK_SHARED_FN void dk_merge_greatest(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u64* to) {
  dk_u64 best = 0;
  for (dk_i32 i = 0; i < replicas; i++) best = from[i * stride] > best ? from[i * stride] : best;
  dk_raise_global_u64(to, best);
}

DK_SHARED_FN void dk_merge_greatest_u128(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride,
                                         DK_GLOBAL dk_u32* lock, DK_GLOBAL dk_u64* to) {
  dk_u128 best;
  best.lo = 0;
  best.hi = 0;
  for (dk_i32 i = 0; i < replicas; i++) {
    dk_u64 hi = from[i * stride + 1];
    dk_u64 lo = from[i * stride];
    if (hi > best.hi || (hi == best.hi && lo > best.lo)) {
      best.hi = hi;
      best.lo = lo;
    }
  }
  dk_locked_raise_global_u128(lock, to, best);
}

DK_SHARED_FN void dk_merge_moments(DK_LOCAL const dk_u64* from, dk_i32 replicas, dk_i32 stride, DK_GLOBAL dk_u32* lock,
                                   DK_GLOBAL dk_u64* to) {
  dk_moments sum = dk_no_moments();
  for (dk_i32 i = 0; i < replicas; i++) {
    dk_moments part;
    part.count = DK_F64_OF_BITS(from[i * stride]);
    part.sum = DK_F64_OF_BITS(from[i * stride + 1]);
    part.squares = DK_F64_OF_BITS(from[i * stride + 2]);
    sum = dk_add_moments(sum, part);
  }
  if (sum.count != 0) dk_locked_add_global_moments(lock, (DK_GLOBAL dk_f64*)to, sum);
}
