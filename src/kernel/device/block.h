// Functions of a whole work-group: scan, reductions, broadcast.
//
// All work-items of the group call them, at the same place, with the group's scratch (DK_SCRATCH). Each has a barrier
// after it writes the scratch and another after the last read, so that calls may follow each other in a loop; nothing
// of the caller's may lie in the scratch meanwhile. Every work-item gets the very same result.
//
//   dk_block_scan_u32          exclusive prefix sum and total
//   dk_block_<sum|min|max|or>_<type>
//   dk_block_broadcast_u64     what work-item 0 has
//
// With CUDA a warp reduces by shuffles and leaves one element in the scratch (2 barriers); with OpenCL the elements of
// all work-items are halved in local memory, log2(DK_GROUP_SIZE) + 2 barriers.
#pragma once

DK_SHARED_FN dk_u64 dk_block_broadcast_u64(dk_u64 value, DK_LOCAL dk_u64* scratch) {
  if (DK_LOCAL_ID == 0) scratch[0] = value;
  DK_BARRIER();
  value = scratch[0];
  DK_BARRIER();
  return value;
}

#if DK_HAS_SHUFFLE

// The sum of the values of lower work-items; *total: of all. 2 barriers.
DK_SHARED_FN dk_u32 dk_block_scan_u32(dk_u32 value, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  DK_LOCAL dk_u32* sums = (DK_LOCAL dk_u32*)scratch;
  dk_i32 lane = DK_LOCAL_ID & 31;
  dk_i32 warp = DK_LOCAL_ID >> 5;
  dk_u32 inclusive = value;
  DK_UNROLL for (dk_i32 step = 1; step < 32; step <<= 1) {
    dk_u32 other = DK_SHUFFLE_UP(inclusive, step);
    if (lane >= step) inclusive += other;
  }
  if (lane == 31) sums[warp] = inclusive;
  DK_BARRIER();
  dk_u32 before = 0;
  dk_u32 all = 0;
  DK_UNROLL for (dk_i32 i = 0; i < DK_GROUP_SIZE / 32; i++) {
    if (i == warp) before = all;
    all += sums[i];
  }
  DK_BARRIER();
  *total = all;
  return before + inclusive - value;
}

// dk_block_<name> of a type, by a function of two values that is associative and commutative, and one that gives the
// value of the lane that many above.
#define DK_BLOCK_REDUCE(name, type, COMBINE, SHUFFLE)                       \
  DK_SHARED_FN type dk_block_##name(type value, DK_LOCAL dk_u64* scratch) { \
    DK_LOCAL type* partial = (DK_LOCAL type*)scratch;                       \
    DK_UNROLL for (dk_i32 step = 16; step > 0; step >>= 1) {                \
      type other = SHUFFLE(value, step);                                    \
      value = COMBINE(value, other);                                        \
    }                                                                       \
    if ((DK_LOCAL_ID & 31) == 0) partial[DK_LOCAL_ID >> 5] = value;         \
    DK_BARRIER();                                                           \
    value = partial[0];                                                     \
    for (dk_i32 i = 1; i < DK_GROUP_SIZE / 32; i++) {                       \
      type other = partial[i];                                              \
      value = COMBINE(value, other);                                        \
    }                                                                       \
    DK_BARRIER();                                                           \
    return value;                                                           \
  }

DK_FN dk_i128 dk_shuffle_i128(dk_i128 value, dk_i32 lanes) {
  dk_i128 r;
  r.lo = DK_SHUFFLE_DOWN(value.lo, lanes);
  r.hi = DK_SHUFFLE_DOWN(value.hi, lanes);
  return r;
}

#else

// The sum of the values of lower work-items; *total: of all. 2 * log2(DK_GROUP_SIZE) + 2 barriers; W. D. Hillis, G. L.
// Steele: Data Parallel Algorithms (1986).
DK_SHARED_FN dk_u32 dk_block_scan_u32(dk_u32 value, DK_LOCAL dk_u64* scratch, DK_PRIVATE dk_u32* total) {
  DK_LOCAL dk_u32* sums = (DK_LOCAL dk_u32*)scratch;
  dk_u32 inclusive = value;
  sums[DK_LOCAL_ID] = inclusive;
  DK_BARRIER();
  for (dk_i32 step = 1; step < DK_GROUP_SIZE; step <<= 1) {
    if (DK_LOCAL_ID >= step) inclusive += sums[DK_LOCAL_ID - step];
    DK_BARRIER();
    sums[DK_LOCAL_ID] = inclusive;
    DK_BARRIER();
  }
  *total = sums[DK_GROUP_SIZE - 1];
  DK_BARRIER();
  return inclusive - value;
}

#define DK_BLOCK_REDUCE(name, type, COMBINE, SHUFFLE)                       \
  DK_SHARED_FN type dk_block_##name(type value, DK_LOCAL dk_u64* scratch) { \
    DK_LOCAL type* partial = (DK_LOCAL type*)scratch;                       \
    partial[DK_LOCAL_ID] = value;                                           \
    DK_BARRIER();                                                           \
    for (dk_i32 others = DK_GROUP_SIZE / 2; others > 0; others >>= 1) {     \
      if (DK_LOCAL_ID < others) {                                           \
        type other = partial[DK_LOCAL_ID + others];                         \
        value = COMBINE(value, other);                                      \
        partial[DK_LOCAL_ID] = value;                                       \
      }                                                                     \
      DK_BARRIER();                                                         \
    }                                                                       \
    value = partial[0];                                                     \
    DK_BARRIER();                                                           \
    return value;                                                           \
  }

#endif

// ---- reductions; NaN is greater than all other floating-point numbers

#define DK_SUM_OF(a, b) ((a) + (b))
#define DK_OR_OF(a, b) ((a) | (b))
#define DK_LEAST_OF(a, b) ((b) < (a) ? (b) : (a))
#define DK_GREATEST_OF(a, b) ((a) < (b) ? (b) : (a))
#define DK_LEAST_FLOAT_OF(a, b) ((b) < (a) || (a) != (a) ? (b) : (a))
#define DK_GREATEST_FLOAT_OF(a, b) ((a) < (b) || (b) != (b) ? (b) : (a))
#define DK_LEAST_I128_OF(a, b) (dk_lt_i128(b, a) ? (b) : (a))
#define DK_GREATEST_I128_OF(a, b) (dk_lt_i128(a, b) ? (b) : (a))

DK_BLOCK_REDUCE(sum_u32, dk_u32, DK_SUM_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_u32, dk_u32, DK_LEAST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(max_u32, dk_u32, DK_GREATEST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(or_u32, dk_u32, DK_OR_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(sum_u64, dk_u64, DK_SUM_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_u64, dk_u64, DK_LEAST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(max_u64, dk_u64, DK_GREATEST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(or_u64, dk_u64, DK_OR_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_i64, dk_i64, DK_LEAST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(max_i64, dk_i64, DK_GREATEST_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(sum_f64, dk_f64, DK_SUM_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_f64, dk_f64, DK_LEAST_FLOAT_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(max_f64, dk_f64, DK_GREATEST_FLOAT_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_f32, dk_f32, DK_LEAST_FLOAT_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(max_f32, dk_f32, DK_GREATEST_FLOAT_OF, DK_SHUFFLE_DOWN)
DK_BLOCK_REDUCE(min_i128, dk_i128, DK_LEAST_I128_OF, dk_shuffle_i128)
DK_BLOCK_REDUCE(max_i128, dk_i128, DK_GREATEST_I128_OF, dk_shuffle_i128)

// Modulo 2^64, as the sum of a program's Sum of bigint that was proven to fit.
DK_SHARED_FN dk_i64 dk_block_sum_i64(dk_i64 value, DK_LOCAL dk_u64* scratch) {
  return (dk_i64)dk_block_sum_u64((dk_u64)value, scratch);
}
