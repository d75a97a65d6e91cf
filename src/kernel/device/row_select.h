// The rows whose keys are among the least, for a limit: by radix select, T. Alabi et al.: Fast K-selection Algorithms
// for Graphics Processing Units (2012).
//
//   dk_select_count   how many keys have each next digit after a prefix; the host finds the greatest key wanted so
//   dk_select_tally   how many wanted rows each group has; dk_run_scan makes prefix sums of them
//   dk_select_rows    the numbers of the wanted rows
#pragma once

#define DK_SELECT_DIGITS 2048

// rows, keys, shift, bits, prefix, counts: of the keys that have the prefix above the digit of so many bits, at most
// 11, at `shift`, how many have each digit. The counts start at 0.
DK_KERNEL void dk_select_count(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SHARED dk_u32 tally[DK_SELECT_DIGITS];
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  dk_i32 shift = (dk_i32)parameters.word[2];
  dk_i32 bits = (dk_i32)parameters.word[3];
  dk_u64 prefix = parameters.word[4];
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[5]);
  for (dk_i32 i = DK_LOCAL_ID; i < DK_SELECT_DIGITS; i += DK_GROUP_SIZE) tally[i] = 0;
  DK_BARRIER();
  for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < rows;
       i += (dk_i64)DK_GROUP_COUNT * DK_GROUP_SIZE) {
    dk_u64 key = keys[i] >> shift;
    if (key >> bits == prefix) dk_atomic_add_local_u32(&tally[key & ((1U << bits) - 1)], 1);
  }
  DK_BARRIER();
  for (dk_i32 i = DK_LOCAL_ID; i < DK_SELECT_DIGITS; i += DK_GROUP_SIZE) {
    if (tally[i] != 0) dk_atomic_add_global_u32(&counts[i], tally[i]);
  }
}

// rows, keys, shift, greatest key >> shift that is wanted, counts: of each group, how many of its rows are wanted
DK_KERNEL void dk_select_tally(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  dk_i32 shift = (dk_i32)parameters.word[2];
  dk_u64 greatest = parameters.word[3];
  DK_GLOBAL dk_u32* counts = DK_AT(dk_u32, parameters.word[4]);
  dk_i64 end = dk_run_start(rows, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  dk_u32 wanted = 0;
  for (dk_i64 i = dk_run_start(rows, DK_GROUP_ID, DK_GROUP_COUNT) + DK_LOCAL_ID; i < end; i += DK_GROUP_SIZE) {
    wanted += keys[i] >> shift <= greatest;
  }
  wanted = dk_block_sum_u32(wanted, scratch);
  if (DK_LOCAL_ID == 0) counts[DK_GROUP_ID] = wanted;
}

// The same, with the prefix sums of the counts; and where the numbers of the wanted rows go, in the order of the rows
DK_KERNEL void dk_select_rows(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {
  DK_SCRATCH(scratch);
  dk_i64 rows = (dk_i64)parameters.word[0];
  DK_GLOBAL const dk_u64* keys = DK_AT(dk_u64, parameters.word[1]);
  dk_i32 shift = (dk_i32)parameters.word[2];
  dk_u64 greatest = parameters.word[3];
  DK_GLOBAL const dk_u32* counts = DK_AT(dk_u32, parameters.word[4]);
  DK_GLOBAL dk_u32* to = DK_AT(dk_u32, parameters.word[5]);
  dk_i64 end = dk_run_start(rows, DK_GROUP_ID + 1, DK_GROUP_COUNT);
  dk_u32 next = counts[DK_GROUP_ID];
  for (dk_i64 start = dk_run_start(rows, DK_GROUP_ID, DK_GROUP_COUNT); start < end; start += DK_RUN_TILE) {
    dk_i64 mine = start + DK_LOCAL_ID * DK_RUN_ROWS;
    dk_u32 wanted = 0;
    for (dk_i32 i = 0; i < DK_RUN_ROWS; i++) {
      if (mine + i < end && keys[mine + i] >> shift <= greatest) wanted |= 1U << i;
    }
    dk_u32 total = 0;
    dk_u32 place = next + dk_block_scan_u32(DK_POPCOUNT_U32(wanted), scratch, &total);
    for (; wanted != 0; wanted &= wanted - 1) to[place++] = (dk_u32)(mine + DK_CTZ_U32(wanted));
    next += total;
  }
}
