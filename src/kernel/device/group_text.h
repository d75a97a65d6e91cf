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

// MurmurHash64A, as dk_hash_text; the last bytes as a whole word.
DK_APART dk_u64 dk_hash_bytes(DK_GLOBAL const dk_u8* at, dk_i64 length) {
  const dk_u64 m = DK_U64(0xC6A4A7935BD1E995);
  dk_u64 h = DK_U64(0x8445D61A4E774912) ^ ((dk_u64)length * m);
  for (dk_i64 i = 0; i < length; i += 8) {
    dk_u64 k = dk_bytes_word(at + i, length - i) * m;
    k = (k ^ (k >> 47)) * m;
    h = (h ^ k) * m;
  }
  return dk_mix_u64(h);
}

DK_FN dk_u64 dk_text_key(dk_text a) {
  return (dk_hash_bytes((DK_GLOBAL const dk_u8*)a.data, a.length) & DK_U64(0xFFFFFFFF00000000)) | (dk_u32)a.length;
}
DK_FN dk_u64 dk_text_address(DK_SPACES_PARAM, dk_text a) { return a.length > 0 ? DK_ADDRESS_OF(a.data) : 0; }

// Whether so many bytes at two addresses are the same.
DK_APART dk_bool dk_same_bytes(DK_SPACES_PARAM, dk_u64 a, dk_u64 b, dk_i64 length) {
  if (a == b) return 1;
  DK_GLOBAL const dk_u8* x = DK_AT(const dk_u8, a);
  DK_GLOBAL const dk_u8* y = DK_AT(const dk_u8, b);
  for (dk_i64 i = 0; i < length; i += 8) {
    if (dk_bytes_word(x + i, length - i) != dk_bytes_word(y + i, length - i)) return 0;
  }
  return 1;
}
