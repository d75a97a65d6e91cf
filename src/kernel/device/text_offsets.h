// Offsets of strings, by as much more as there are bytes before them in another heap.
#pragma once

// words of the parameters: offsets, their number, where to, how much more
DK_KERNEL void dk_text_offsets(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_GLOBAL const dk_u32* from = DK_AT(const dk_u32, parameters.word[0]);
  const dk_i64 count = (dk_i64)parameters.word[1];
  DK_GLOBAL dk_u32* to = DK_AT(dk_u32, parameters.word[2]);
  const dk_i64 step = (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE;
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < count; i += step)
    to[i] = from[i] + (dk_u32)parameters.word[3];
}
