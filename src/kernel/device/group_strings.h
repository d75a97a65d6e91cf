// The strings that groups point to, on their way to memory that the groups own: where they are, out of rows of states
// or of any other words, and where they have been copied to, back into them.
//
//   states       | .. hash, length .. address .. | .. hash, length .. address .. |
//   text rows    | address, length | address, length |        text_row.h; text_starts.h and text_copy.h copy them
//
// words of the parameters: states, count, words of a row, the word of the address, the word of the length in its lower
// half, how much more than the length that is (0 is 0), text rows; and to place them starts, heap
#pragma once

DK_KERNEL void dk_take_strings(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL const dk_u64* states = DK_AT(const dk_u64, parameters.word[0]);
  DK_GLOBAL dk_i128* rows = DK_AT(dk_i128, parameters.word[6]);
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < (dk_i64)parameters.word[1];
       i += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    DK_GLOBAL const dk_u64* state = states + i * (dk_i64)parameters.word[2];
    const dk_u32 length = (dk_u32)state[parameters.word[4]];
    rows[i].lo = state[parameters.word[3]];
    rows[i].hi = length == 0 ? 0 : (dk_i64)(length - (dk_u32)parameters.word[5]);
  }
}

DK_KERNEL void dk_place_strings(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL dk_u64* states = DK_AT(dk_u64, parameters.word[0]);
  DK_GLOBAL const dk_i128* rows = DK_AT(const dk_i128, parameters.word[6]);
  DK_GLOBAL const dk_u64* starts = DK_AT(const dk_u64, parameters.word[7]);
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < (dk_i64)parameters.word[1];
       i += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    if (rows[i].hi != 0)
      states[i * (dk_i64)parameters.word[2] + (dk_i64)parameters.word[3]] = parameters.word[8] + starts[i];
  }
}
