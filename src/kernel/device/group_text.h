// Strings as keys of groups. They stay where they are, and a group knows where; a key has a word that is compared, and
// the address:
//
//   |hash: upper 32 bits, length|  ...  |address|       NULL and the empty string have address 0
//
// Where the first words are equal, the bytes decide: strings of one hash are in one group only if they are equal.
#pragma once

// Up to 8 bytes, one or more, as a little-endian number. Only words that have some of the bytes are read.
DK_FN dk_u64 dk_bytes_word(DK_GLOBAL const dk_u8* at, dk_i64 bytes) {
  const dk_u32 before = (dk_u32)((dk_u64)at & 7);
  DK_GLOBAL const dk_u64* words = (DK_GLOBAL const dk_u64*)(at - before);
  dk_u64 word = words[0] >> (8 * before);
  if (before + bytes > 8 && before != 0) word |= words[1] << (64 - 8 * before);
  return bytes < 8 ? word & ((DK_U64(1) << (8 * bytes)) - 1) : word;
}

// Longer strings are read by aligned pairs of words, so that few loads bring them; only pairs that have some
// of the bytes are read:
//
//   pairs   |. . a b c d e f|g h . .|     before = 2     words of 4 bytes: a b c d, e f g h
//
// The first 8 of the bytes that stand behind `before` in two pairs, and the next 8, as little-endian numbers; 0s behind
// `left` bytes.
DK_FN void dk_bytes_words(DK_PRIVATE const dk_u64* pair, DK_PRIVATE const dk_u64* next, dk_u32 before, dk_i64 left,
                          DK_PRIVATE dk_u64* words) {
  const dk_u32 bits = 8 * (before & 7);
  const dk_bool is_upper = before >= 8;
  const dk_u64 a = is_upper ? pair[1] : pair[0], b = is_upper ? next[0] : pair[1], c = is_upper ? next[1] : next[0];
  words[0] = bits == 0 ? a : a >> bits | b << (64 - bits);
  words[1] = bits == 0 ? b : b >> bits | c << (64 - bits);
  if (left < 8) words[0] &= (DK_U64(1) << (8 * left)) - 1;
  if (left < 16) words[1] = left <= 8 ? 0 : words[1] & ((DK_U64(1) << (8 * (left - 8))) - 1);
}

DK_FN dk_u64 dk_hash_step(dk_u64 h, dk_u64 word) {
  const dk_u64 m = DK_U64(0xC6A4A7935BD1E995);
  dk_u64 k = word * m;
  k = (k ^ (k >> 47)) * m;
  return (h ^ k) * m;
}

// MurmurHash64A, as dk_hash_text; the last bytes as a whole word.
DK_APART dk_u64 dk_hash_bytes(DK_GLOBAL const dk_u8* at, dk_i64 length) {
  dk_u64 h = DK_U64(0x8445D61A4E774912) ^ ((dk_u64)length * DK_U64(0xC6A4A7935BD1E995));
  const dk_u32 before = (dk_u32)((dk_u64)at & 15);
  DK_GLOBAL const dk_u8* pairs = at - before;
  dk_u64 pair[2], next[2] = {0, 0}, words[2];
  if (length > 0) DK_LOAD_PAIR(pairs, pair)
  for (dk_i64 i = 0; i < length; i += 16) {
    if (before + (length - i) > 16) DK_LOAD_PAIR(pairs + i + 16, next)
    dk_bytes_words(pair, next, before, length - i, words);
    h = dk_hash_step(h, words[0]);
    if (length - i > 8) h = dk_hash_step(h, words[1]);
    pair[0] = next[0];
    pair[1] = next[1];
  }
  return dk_mix_u64(h);
}

// The word of a string that is compared.
DK_FN dk_u64 dk_text_key(dk_text a) {
  return (dk_hash_bytes((DK_GLOBAL const dk_u8*)a.data, a.length) & DK_U64(0xFFFFFFFF00000000)) | (dk_u32)a.length;
}
DK_FN dk_u64 dk_text_address(DK_SPACES_PARAM, dk_text a) { return a.length > 0 ? DK_ADDRESS_OF(a.data) : 0; }

// Whether so many bytes at two addresses are the same.
DK_APART dk_bool dk_same_bytes(DK_SPACES_PARAM, dk_u64 a, dk_u64 b, dk_i64 length) {
  if (a == b || length <= 0) return 1;
  DK_GLOBAL const dk_u8* x = DK_AT(const dk_u8, a);
  DK_GLOBAL const dk_u8* y = DK_AT(const dk_u8, b);
  const dk_u32 before_x = (dk_u32)((dk_u64)x & 15), before_y = (dk_u32)((dk_u64)y & 15);
  dk_u64 pair_x[2], pair_y[2], next_x[2] = {0, 0}, next_y[2] = {0, 0}, words_x[2], words_y[2];
  DK_LOAD_PAIR(x - before_x, pair_x)
  DK_LOAD_PAIR(y - before_y, pair_y)
  for (dk_i64 i = 0; i < length; i += 16) {
    const dk_i64 left = length - i;
    if (before_x + left > 16) DK_LOAD_PAIR(x - before_x + i + 16, next_x)
    if (before_y + left > 16) DK_LOAD_PAIR(y - before_y + i + 16, next_y)
    dk_bytes_words(pair_x, next_x, before_x, left, words_x);
    dk_bytes_words(pair_y, next_y, before_y, left, words_y);
    if (words_x[0] != words_y[0] || words_x[1] != words_y[1]) return 0;
    pair_x[0] = next_x[0];
    pair_x[1] = next_x[1];
    pair_y[0] = next_y[0];
    pair_y[1] = next_y[1];
  }
  return 1;
}
