// Parts of a work-group that work without waiting for the rest: with CUDA the warps, with OpenCL the whole group.
//
//   tile   |team 0: its rows, step by step|team 1: ...|      each team has rows that follow each other
//
// Inside a team items agree by shuffles and a warp's barrier, which cost next to nothing; a barrier of the group lets
// nobody go on before the slowest load of all.
#pragma once

#if DK_HAS_SHUFFLE

#define DK_TEAM_SIZE 32
#define DK_TEAM_BARRIER() DK_WARP_BARRIER()

// The sum of the values of lower items of the team; *total: of all.
DK_SHARED_FN dk_u32 dk_team_scan_u32(dk_u32 value, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  dk_u32 inclusive = value;
  DK_UNROLL for (dk_i32 step = 1; step < 32; step <<= 1) {
    dk_u32 other = DK_SHUFFLE_UP(inclusive, step);
    if ((DK_LOCAL_ID & 31) >= step) inclusive += other;
  }
  *total = DK_SHUFFLE_FROM(inclusive, 31);
  return inclusive - value;
}
// Places for as many elements as each item has, one behind the other in any order of the items; *total: of all. What
// the team has read before, it has read.
DK_SHARED_FN dk_u32 dk_team_places(dk_u32 count, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  DK_TEAM_BARRIER();
  return dk_team_scan_u32(count, scratch, total);
}
// What the first item of the team has.
DK_SHARED_FN dk_u32 dk_team_first_u32(dk_u32 value, DK_LOCAL dk_u64* scratch) { return DK_SHUFFLE_FROM(value, 0); }
DK_SHARED_FN dk_u64 dk_team_first_u64(dk_u64 value, DK_LOCAL dk_u64* scratch) { return DK_SHUFFLE_FROM(value, 0); }

#else

#define DK_TEAM_SIZE DK_GROUP_SIZE
#define DK_TEAM_BARRIER() DK_BARRIER()

DK_SHARED_FN dk_u32 dk_team_scan_u32(dk_u32 value, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  return dk_block_scan_u32(value, scratch, total);
}
DK_SHARED_FN dk_u32 dk_team_places(dk_u32 count, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  DK_LOCAL dk_u32* sum = (DK_LOCAL dk_u32*)scratch;
  DK_BARRIER();
  if (DK_LOCAL_ID == 0) *sum = 0;
  DK_BARRIER();
  const dk_u32 place = count != 0 ? dk_atomic_add_local_u32(sum, count) : 0;
  DK_BARRIER();
  *total = *sum;
  return place;
}
DK_SHARED_FN dk_u32 dk_team_first_u32(dk_u32 value, DK_LOCAL dk_u64* scratch) {
  return (dk_u32)dk_block_broadcast_u64(value, scratch);
}
DK_SHARED_FN dk_u64 dk_team_first_u64(dk_u64 value, DK_LOCAL dk_u64* scratch) {
  return dk_block_broadcast_u64(value, scratch);
}

#endif

#define DK_TEAM (DK_LOCAL_ID / DK_TEAM_SIZE)
#define DK_LANE (DK_LOCAL_ID % DK_TEAM_SIZE)

// Takes places in an output in any order, for the elements that the items of a team have counted, and returns the first
// one; *total: how many. *counter is how many are taken.
DK_SHARED_FN dk_u64 dk_team_take(DK_GLOBAL dk_u64* counter, dk_u32 count, DK_LOCAL dk_u64* scratch,
                                 DK_PRIVATE dk_u32* total) {
  dk_team_scan_u32(count, scratch, total);
  dk_u64 place = 0;
  if (DK_LANE == 0 && *total != 0) place = dk_atomic_add_global_u64(counter, *total);
  return dk_team_first_u64(place, scratch);
}

// Writes the elements of a team that were selected: they are put close together in local memory and written from there,
// so that neighbouring items write neighbouring elements.
//
//   mask, R = 4      item 0: 0101      item 1: 1000      position 0, 2 (dk_team_scan_u32)      total 3
//   stage          | a0 | a2 | b3 |                      -> out[offset], out[offset + 1], out[offset + 2]
//
// dk_team_put<R>_<u8|u32|u64|i128>(stage, mask, position, values, total, out, offset, capacity), R of 1, 4, 8, 16:
// called by the whole team. stage has room for R * DK_TEAM_SIZE elements of the team's own; bit i of mask selects
// values[i]; position is how many rows lower items select, total how many all do. out has room for `capacity` elements:
// what would go past it is dropped.
#define DK_TEAM_PUT_OF(R, suffix, type)                                                                         \
  DK_SHARED_FN void dk_team_put##R##_##suffix(DK_LOCAL type* stage, dk_u32 mask, dk_u32 position,               \
                                              DK_PRIVATE const type* values, dk_u32 total, DK_GLOBAL type* out, \
                                              dk_u64 offset, dk_u64 capacity) {                                 \
    DK_UNROLL for (dk_i32 i = 0; i < R; i++) {                                                                  \
      if ((mask >> i & 1U) != 0) stage[position++] = values[i];                                                 \
    }                                                                                                           \
    DK_TEAM_BARRIER();                                                                                          \
    for (dk_u32 i = (dk_u32)DK_LANE; i < total; i += DK_TEAM_SIZE) {                                            \
      if (offset + i < capacity) out[offset + i] = stage[i];                                                    \
    }                                                                                                           \
    DK_TEAM_BARRIER();                                                                                          \
  }

#define DK_TEAM_PUTS_OF(R)       \
  DK_TEAM_PUT_OF(R, u8, dk_u8)   \
  DK_TEAM_PUT_OF(R, u32, dk_u32) \
  DK_TEAM_PUT_OF(R, u64, dk_u64) \
  DK_TEAM_PUT_OF(R, i128, dk_i128)

// clang-format off
DK_TEAM_PUTS_OF(1)
DK_TEAM_PUTS_OF(4)
DK_TEAM_PUTS_OF(8)
DK_TEAM_PUTS_OF(16)
// clang-format on
