// A byte of each row, 1 where it is not NULL, as the bits that columns have.
//
//   bytes   | 1 | 0 | 1 | 1 |     bits   .. 1101 ..    from bit `first` on, of words that are 0 at first
//
// words of the parameters: bytes, count, bits, first
#pragma once

DK_KERNEL void dk_null_bits(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL const dk_u8* bytes = DK_AT(const dk_u8, parameters.word[0]);
  const dk_i64 first = (dk_i64)parameters.word[3];
  const dk_i64 end = first + (dk_i64)parameters.word[1];
  DK_GLOBAL dk_u32* bits = DK_AT(dk_u32, parameters.word[2]);
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 word = first / 32 + (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; word * 32 < end; word += step) {
    dk_u32 there = 0;
    for (dk_i64 bit = word * 32 < first ? first : word * 32; bit < end && bit < word * 32 + 32; bit++)
      there |= (dk_u32)(bytes[bit - first] != 0) << (bit & 31);
    // The first and the last word are those of other rows, too.
    dk_atomic_or_global_u32(bits + word, there);
  }
}
