// The least and greatest strings and intervals of groups, as states of many groups (group_states.h). Each state begins
// with a number that only rises: the greatest's, or the complement of the least's. Reading it alone rules most values
// out without the lock.
//
//   string     |first 8 bytes|address|length + 1, 0: none yet|version|
//   interval   |span / 1024|span % 1024|number of the row + 1|months, days|microseconds|
//
// Of strings that begin alike, which are many where they are names of one kind, the rest is compared without the lock,
// too: the version is odd while a state is being written, and another one afterwards.
//
// Strings compare bytewise, intervals by their span; of equal intervals, which may differ, the last row's is kept.
//
//   dk_locked_raise_<space>_text(spaces, lock, at, text, is_least)
//   dk_locked_merge_<space>_text(spaces, lock, at, words, is_least)      words: of a state elsewhere
//   dk_locked_raise_<space>_interval(lock, at, words)                    words: of a state
#pragma once

DK_FN dk_u64 dk_swap_bytes_u64(dk_u64 a) {
  a = ((a & DK_U64(0x00FF00FF00FF00FF)) << 8) | ((a >> 8) & DK_U64(0x00FF00FF00FF00FF));
  a = ((a & DK_U64(0x0000FFFF0000FFFF)) << 16) | ((a >> 16) & DK_U64(0x0000FFFF0000FFFF));
  return (a << 32) | (a >> 32);
}

// Up to 8 bytes, as a number in the order of the strings that begin with them.
DK_FN dk_u64 dk_ordered_bytes(DK_GLOBAL const dk_u8* at, dk_i64 bytes) {
  return bytes <= 0 ? 0 : dk_swap_bytes_u64(dk_bytes_word(at, bytes));
}

// Whether the string at address a comes before the one at b.
DK_APART dk_bool dk_comes_before(DK_SPACES_PARAM, dk_u64 a, dk_i64 a_length, dk_u64 b, dk_i64 b_length) {
  const dk_i64 both = a_length < b_length ? a_length : b_length;
  DK_GLOBAL const dk_u8* x = DK_AT(const dk_u8, a);
  DK_GLOBAL const dk_u8* y = DK_AT(const dk_u8, b);
  if (a != b) {
    for (dk_i64 i = 0; i < both; i += 8) {
      const dk_u64 mine = dk_ordered_bytes(x + i, both - i);
      const dk_u64 other = dk_ordered_bytes(y + i, both - i);
      if (mine != other) return mine < other;
    }
  }
  return a_length < b_length;
}

// The state of the string alone.
DK_FN void dk_text_state(DK_SPACES_PARAM, dk_text value, dk_bool is_least, DK_PRIVATE dk_u64* words) {
  const dk_u64 first = dk_ordered_bytes((DK_GLOBAL const dk_u8*)value.data, value.length);
  words[0] = is_least ? ~first : first;
  words[1] = dk_text_address(DK_SPACES_ARG, value);
  words[2] = (dk_u64)(dk_u32)value.length + 1;
}

// The state of an interval of that span alone, in row `row`.
DK_FN void dk_interval_state(dk_interval value, dk_i128 span, dk_u64 row, dk_bool is_least, DK_PRIVATE dk_u64* words) {
  // A span has at most 73 bits, and a sign.
  const dk_u64 first = dk_key_i64((dk_i64)(((dk_u64)span.hi << 54) | (span.lo >> 10)));
  words[0] = is_least ? ~first : first;
  words[1] = is_least ? ~span.lo & 1023 : span.lo & 1023;
  words[2] = row + 1;
  words[3] = (dk_u64)(dk_u32)value.months | ((dk_u64)(dk_u32)value.days << 32);
  words[4] = (dk_u64)value.microseconds;
}

#define DK_GROUP_EXTREMES_IN(space, qualifier, FENCE)                                                                  \
  DK_NEAR dk_bool dk_improves_##space##_text(DK_SPACES_PARAM, dk_u64 address, dk_i64 length,                           \
                                             DK_PRIVATE const dk_u64* words, dk_bool is_least) {                       \
    const dk_i64 mine = (dk_i64)words[2] - 1;                                                                          \
    return is_least ? dk_comes_before(DK_SPACES_ARG, words[1], mine, address, length)                                  \
                    : dk_comes_before(DK_SPACES_ARG, address, length, words[1], mine);                                 \
  }                                                                                                                    \
  DK_NEAR void dk_merge_to_##space##_text(DK_SPACES_PARAM, qualifier dk_u64* at, DK_PRIVATE const dk_u64* words,       \
                                          dk_bool is_least) {                                                          \
    const dk_u64 first = dk_atomic_load_##space##_u64(at);                                                             \
    const dk_u64 more = dk_atomic_load_##space##_u64(at + 2);                                                          \
    dk_bool takes = more == 0 || words[0] > first;                                                                     \
    if (!takes && words[0] == first)                                                                                   \
      takes = dk_improves_##space##_text(DK_SPACES_ARG, dk_atomic_load_##space##_u64(at + 1), (dk_i64)more - 1, words, \
                                         is_least);                                                                    \
    if (takes) {                                                                                                       \
      const dk_u64 version = dk_atomic_load_##space##_u64(at + 3);                                                     \
      dk_atomic_store_##space##_u64(at + 3, version + 1);                                                              \
      FENCE();                                                                                                         \
      DK_UNROLL for (dk_i32 i = 0; i < 3; i++) { dk_atomic_store_##space##_u64(at + i, words[i]); }                    \
      FENCE();                                                                                                         \
      dk_atomic_store_##space##_u64(at + 3, version + 2);                                                              \
    }                                                                                                                  \
  }                                                                                                                    \
  DK_NEAR dk_bool dk_may_improve_##space##_text(DK_SPACES_PARAM, qualifier dk_u64* at, DK_PRIVATE const dk_u64* words, \
                                                dk_bool is_least) {                                                    \
    const dk_u64 first = dk_atomic_load_##space##_u64(at);                                                             \
    if (words[2] == 0 || words[0] != first) return words[2] != 0 && words[0] > first;                                  \
    const dk_u64 version = dk_atomic_load_##space##_u64(at + 3);                                                       \
    FENCE();                                                                                                           \
    const dk_u64 address = dk_atomic_load_##space##_u64(at + 1);                                                       \
    const dk_u64 more = dk_atomic_load_##space##_u64(at + 2);                                                          \
    FENCE();                                                                                                           \
    if (more == 0 || (version & 1) != 0 || dk_atomic_load_##space##_u64(at + 3) != version) return 1;                  \
    return dk_improves_##space##_text(DK_SPACES_ARG, address, (dk_i64)more - 1, words, is_least);                      \
  }                                                                                                                    \
  DK_NEAR void dk_locked_merge_##space##_text(DK_SPACES_PARAM, qualifier dk_u32* lock, qualifier dk_u64* at,           \
                                              DK_PRIVATE const dk_u64* words, dk_bool is_least) {                      \
    if (dk_may_improve_##space##_text(DK_SPACES_ARG, at, words, is_least))                                             \
      DK_LOCKED(space, lock, dk_merge_to_##space##_text(DK_SPACES_ARG, at, words, is_least))                           \
  }                                                                                                                    \
  DK_NEAR void dk_locked_raise_##space##_text(DK_SPACES_PARAM, qualifier dk_u32* lock, qualifier dk_u64* at,           \
                                              dk_text value, dk_bool is_least) {                                       \
    dk_u64 words[3];                                                                                                   \
    dk_text_state(DK_SPACES_ARG, value, is_least, words);                                                              \
    dk_locked_merge_##space##_text(DK_SPACES_ARG, lock, at, words, is_least);                                          \
  }                                                                                                                    \
  DK_NEAR void dk_raise_to_##space##_interval(qualifier dk_u64* at, DK_PRIVATE const dk_u64* words) {                  \
    dk_u64 best[3];                                                                                                    \
    DK_UNROLL for (dk_i32 i = 0; i < 3; i++) { best[i] = dk_atomic_load_##space##_u64(at + i); }                       \
    const dk_bool same = words[0] == best[0] && words[1] == best[1];                                                   \
    if (words[0] > best[0] || (words[0] == best[0] && words[1] > best[1]) || (same && words[2] > best[2])) {           \
      DK_UNROLL for (dk_i32 i = 0; i < 5; i++) { dk_atomic_store_##space##_u64(at + i, words[i]); }                    \
    }                                                                                                                  \
  }                                                                                                                    \
  DK_NEAR void dk_locked_raise_##space##_interval(qualifier dk_u32* lock, qualifier dk_u64* at,                        \
                                                  DK_PRIVATE const dk_u64* words) {                                    \
    if (words[2] != 0 && words[0] >= dk_atomic_load_##space##_u64(at))                                                 \
      DK_LOCKED(space, lock, dk_raise_to_##space##_interval(at, words))                                                \
  }

// clang-format off
DK_GROUP_EXTREMES_IN(global, DK_GLOBAL, DK_FENCE_GLOBAL)
DK_GROUP_EXTREMES_IN(local, DK_LOCAL, DK_FENCE_LOCAL)
// clang-format on
