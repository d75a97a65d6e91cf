// 64-bit hashes of values that are equal exactly when SQL's = says so, for hash tables and for partitioning.
//
// Integers go through the finaliser of SplitMix64 with the constants of D. Stafford's "Mix13" (Better Bit Mixing,
// 2011), which is a bijection in which each input bit flips each output bit with probability 1/2 within 1 %. Text goes
// through MurmurHash64A of A. Appleby (public domain) by words of 8 bytes. Only 64-bit multiplications are used. Not
// meant to resist an attacker who chooses the keys.
#pragma once

DK_FN dk_u64 dk_mix_u64(dk_u64 a) {
  a = (a ^ (a >> 30)) * DK_U64(0xBF58476D1CE4E5B9);
  a = (a ^ (a >> 27)) * DK_U64(0x94D049BB133111EB);
  return a ^ (a >> 31);
}

// The hash of a row whose columns hash to `first`, then `second`; the order matters.
DK_FN dk_u64 dk_hash_combine(dk_u64 first, dk_u64 second) {
  return dk_mix_u64(first * DK_U64(0x9E3779B97F4A7C15) + second);
}

// An offset keeps 0, the commonest key, from hashing to 0.
DK_FN dk_u64 dk_hash_i64(dk_i64 a) { return dk_mix_u64((dk_u64)a + DK_U64(0x9E3779B97F4A7C15)); }
DK_FN dk_u64 dk_hash_i32(dk_i32 a) { return dk_hash_i64(a); }
DK_FN dk_u64 dk_hash_bool(dk_bool a) { return dk_hash_i64(a); }
DK_FN dk_u64 dk_hash_i128(dk_i128 a) { return dk_hash_combine(dk_hash_i64((dk_i64)a.lo), (dk_u64)a.hi); }

// -0 equals 0, and all NaNs are equal.
DK_FN dk_u64 dk_hash_f64(dk_f64 a) {
  dk_u64 bits = a == 0 ? 0 : a != a ? DK_U64(0x7FF8000000000000) : DK_F64_BITS(a);
  return dk_hash_i64((dk_i64)bits);
}
DK_FN dk_u64 dk_hash_f32(dk_f32 a) { return dk_hash_f64(a); }

// Up to 8 bytes as a little-endian number; compilers make one load of the whole word.
DK_FN dk_u64 dk_load_word(DK_GLOBAL const char* data) {
  DK_GLOBAL const dk_u8* b = (DK_GLOBAL const dk_u8*)data;
  return (dk_u64)b[0] | ((dk_u64)b[1] << 8) | ((dk_u64)b[2] << 16) | ((dk_u64)b[3] << 24) | ((dk_u64)b[4] << 32) |
         ((dk_u64)b[5] << 40) | ((dk_u64)b[6] << 48) | ((dk_u64)b[7] << 56);
}

DK_FN dk_u64 dk_load_part(DK_GLOBAL const char* data, dk_i32 bytes) {
  dk_u64 word = 0;
  for (dk_i32 i = 0; i < bytes; i++) word |= (dk_u64)(dk_u8)data[i] << (8 * i);
  return word;
}

DK_FN dk_u64 dk_hash_text(dk_text a) {
  const dk_u64 m = DK_U64(0xC6A4A7935BD1E995);
  dk_u64 h = DK_U64(0x8445D61A4E774912) ^ ((dk_u64)a.length * m);
  dk_i32 at = 0;
  for (; at + 8 <= a.length; at += 8) {
    dk_u64 k = dk_load_word(a.data + at) * m;
    k = (k ^ (k >> 47)) * m;
    h = (h ^ k) * m;
  }
  if (at < a.length) h = (h ^ dk_load_part(a.data + at, a.length - at)) * m;
  h = (h ^ (h >> 47)) * m;
  return dk_mix_u64(h);
}
