// The states of aggregates: in a work-item's registers, for a group, in memory. In memory a state is 1 to 3 words of 64
// bits, and starts as:
//
//   state                 words        empty           of a group          into memory (global or local)
//   count, sum_i64        1            0               dk_block_sum_u64    dk_atomic_add_<space>_u64
//   sum of i32, i64,      2 (lo, hi)   0               dk_block_sum192     dk_atomic_add_<space>_i128
//     in 128 bits
//   sum of i128, or of    3 (lo first) 0               dk_block_sum192     dk_atomic_add_<space>_sum192
//     exact squares
//   sum_f64               1            0               dk_block_sum_f64    dk_atomic_add_<space>_f64
//   least, of a u64 key   1            all ones        dk_block_min_u64    dk_atomic_min_<space>_u64
//   greatest, the same    1            0               dk_block_max_u64    dk_atomic_max_<space>_u64
//   least of i128         2 (lo, hi)   DK_MOST_I128    dk_block_min_i128   dk_locked_min_<space>_i128
//   greatest of i128      2 (lo, hi)   DK_LEAST_I128   dk_block_max_i128   dk_locked_max_<space>_i128
//   moments (variance)    3 (f64)      0               dk_block_moments    dk_locked_add_<space>_moments
//
// Integers, dates, booleans (bool_and is the least, bool_or the greatest) and floats are compared by keys of 64 bits in
// the same order. Whether a value came at all is kept apart: dk_note_<space> of a bit.
#pragma once

// ---- keys of 64 bits in the order of the values; NaN is the greatest, whatever its bits

DK_FN dk_u64 dk_key_i64(dk_i64 a) { return (dk_u64)a ^ DK_U64(0x8000000000000000); }
DK_FN dk_i64 dk_i64_of_key(dk_u64 key) { return (dk_i64)(key ^ DK_U64(0x8000000000000000)); }

DK_FN dk_u64 dk_key_f64(dk_f64 a) {
  dk_u64 bits = a != a ? DK_U64(0x7FF8000000000000) : DK_F64_BITS(a);
  return (bits >> 63) != 0 ? ~bits : bits | DK_U64(0x8000000000000000);
}
DK_FN dk_f64 dk_f64_of_key(dk_u64 key) {
  return DK_F64_OF_BITS((key >> 63) != 0 ? key ^ DK_U64(0x8000000000000000) : ~key);
}

// ---- bits that say that something came: a value, a float that is not finite. Most find theirs set already.

DK_FN void dk_note_global(DK_GLOBAL dk_u32* bits, dk_u32 bit) {
  if ((dk_atomic_load_global_u32(bits) & bit) != bit) dk_atomic_or_global_u32(bits, bit);
}
DK_SHARED_FN void dk_note_local(DK_LOCAL dk_u32* bits, dk_u32 bit) {
  if ((dk_atomic_load_local_u32(bits) & bit) != bit) dk_atomic_or_local_u32(bits, bit);
}

// A sum of floats that is infinite though all of these were finite has overflowed.
DK_FN dk_bool dk_is_finite_f64(dk_f64 a) { return (a - a) == 0; }

// ---- sums of 192 bits, two's complement, so that overflow of 128 bits shows at the end

typedef struct dk_sum192 {
  dk_u64 lo;
  dk_u64 mid;
  dk_u64 hi;
} dk_sum192;

DK_FN dk_sum192 dk_sum192_of_i128(dk_i128 a) {
  dk_sum192 r;
  r.lo = a.lo;
  r.mid = (dk_u64)a.hi;
  r.hi = (dk_u64)(a.hi >> 63);
  return r;
}
DK_FN dk_sum192 dk_sum192_of_i64(dk_i64 a) { return dk_sum192_of_i128(dk_widen_i64(a)); }

DK_FN dk_sum192 dk_sum192_of_words(dk_u64 lo, dk_u64 mid, dk_u64 hi) {
  dk_sum192 r;
  r.lo = lo;
  r.mid = mid;
  r.hi = hi;
  return r;
}

DK_FN dk_sum192 dk_add_sum192(dk_sum192 a, dk_sum192 b) {
  dk_sum192 r;
  r.lo = a.lo + b.lo;
  dk_u64 carry = r.lo < a.lo;
  r.mid = a.mid + b.mid;
  dk_u64 next = r.mid < a.mid;
  r.mid += carry;
  next += r.mid < carry;
  r.hi = a.hi + b.hi + next;
  return r;
}

DK_FN dk_bool dk_sum192_fits(dk_sum192 a) { return a.hi == (dk_u64)((dk_i64)a.mid >> 63); }
DK_FN dk_i128 dk_i128_of_sum192(dk_sum192 a) { return dk_make_i128((dk_i64)a.mid, a.lo); }

DK_FN dk_sum192 dk_sum192_of_u128(dk_u128 a) { return dk_sum192_of_words(a.lo, a.hi, 0); }

// Squares for exact sums of squares; of 128 bits in two halves, which are added up each for itself.
DK_FN dk_sum192 dk_square_of_i64(dk_i64 a) {
  return dk_sum192_of_u128(dk_mul_u64(dk_magnitude_i64(a), dk_magnitude_i64(a)));
}
DK_FN dk_sum192 dk_lower_square_of_i128(dk_i128 a) {
  return dk_sum192_of_u128(dk_mul_u128(dk_magnitude_i128(a), dk_magnitude_i128(a)).lo);
}
DK_FN dk_sum192 dk_upper_square_of_i128(dk_i128 a) {
  return dk_sum192_of_u128(dk_mul_u128(dk_magnitude_i128(a), dk_magnitude_i128(a)).hi);
}

// A square for a sum of squares. Raises where 128 bits do not hold it.
DK_FN dk_i128 dk_square_i128(dk_i128 a, DK_PRIVATE dk_i32* error) {
  dk_u256 square = dk_mul_u128(dk_magnitude_i128(a), dk_magnitude_i128(a));
  DK_RAISE_IF(!dk_is_zero_u128(square.hi) || (square.lo.hi >> 63) != 0, DK_NUMERIC_OUT_OF_RANGE);
  return dk_make_i128((dk_i64)square.lo.hi, square.lo.lo);
}

// ---- moments: count, sum, and sum of squared differences from the mean; E. A. Youngs, E. M. Cramer: Some results
// relevant to choice of sum and sum-of-product algorithms (1971). An argument that is not finite makes the squares NaN.

typedef struct dk_moments {
  dk_f64 count;
  dk_f64 sum;
  dk_f64 squares;
} dk_moments;

DK_FN dk_moments dk_no_moments(void) {
  dk_moments r;
  r.count = 0;
  r.sum = 0;
  r.squares = 0;
  return r;
}
DK_FN dk_moments dk_moments_of(dk_f64 a) {
  dk_moments r;
  r.count = 1;
  r.sum = a;
  r.squares = (a - a) == 0 ? 0 : a - a;
  return r;
}
DK_FN dk_moments dk_moments_of_words(dk_u64 count, dk_u64 sum, dk_u64 squares) {
  dk_moments r;
  r.count = DK_F64_OF_BITS(count);
  r.sum = DK_F64_OF_BITS(sum);
  r.squares = DK_F64_OF_BITS(squares);
  return r;
}

DK_FN dk_moments dk_add_moments(dk_moments a, dk_moments b) {
  dk_moments r = a.count == 0 ? b : a;
  if (a.count != 0 && b.count != 0) {
    dk_f64 difference = a.sum / a.count - b.sum / b.count;
    r.count = a.count + b.count;
    r.sum = a.sum + b.sum;
    r.squares = a.squares + b.squares + a.count * b.count * difference * difference / r.count;
  }
  return r;
}

// ---- of a group

#if DK_HAS_SHUFFLE
DK_FN dk_sum192 dk_shuffle_sum192(dk_sum192 value, dk_i32 lanes) {
  dk_sum192 r;
  r.lo = DK_SHUFFLE_DOWN(value.lo, lanes);
  r.mid = DK_SHUFFLE_DOWN(value.mid, lanes);
  r.hi = DK_SHUFFLE_DOWN(value.hi, lanes);
  return r;
}
DK_FN dk_moments dk_shuffle_moments(dk_moments value, dk_i32 lanes) {
  dk_moments r;
  r.count = DK_SHUFFLE_DOWN(value.count, lanes);
  r.sum = DK_SHUFFLE_DOWN(value.sum, lanes);
  r.squares = DK_SHUFFLE_DOWN(value.squares, lanes);
  return r;
}
#endif

DK_BLOCK_REDUCE(sum192, dk_sum192, dk_add_sum192, dk_shuffle_sum192)
DK_BLOCK_REDUCE(moments, dk_moments, dk_add_moments, dk_shuffle_moments)

// ---- into memory that others add to as well

// A loop of tries, each of which ends with the lock given back, so that work-items in lockstep cannot wait for one of
// their own. The state's words are read and written by atomic loads and stores, since others look at some of them
// without the lock.
#define DK_LOCKED(space, lock, update)                    \
  for (dk_bool dk_done = 0; !dk_done;) {                  \
    if (dk_atomic_cas_##space##_u32((lock), 0, 1) == 0) { \
      DK_FENCE_##space();                                 \
      update;                                             \
      DK_FENCE_##space();                                 \
      dk_atomic_exchange_##space##_u32((lock), 0);        \
      dk_done = 1;                                        \
    }                                                     \
  }

#define DK_MOST_I128 dk_make_i128(DK_I64(0x7FFFFFFFFFFFFFFF), DK_U64(0xFFFFFFFFFFFFFFFF))
#define DK_LEAST_I128 dk_make_i128((dk_i64)DK_U64(0x8000000000000000), 0)

// A limb that wraps carries one into the next, whoever adds first. The upper half of the least only falls and that of
// the greatest only rises, so that reading it alone rules most values out without the lock.
#define DK_AGGREGATES_IN(space, qualifier)                                                                            \
  DK_SHARED_FN void dk_atomic_add_##space##_i128(qualifier dk_u64* at, dk_i128 value) {                               \
    dk_u64 before = dk_atomic_add_##space##_u64(at, value.lo);                                                        \
    dk_u64 more = (dk_u64)value.hi + (before + value.lo < before);                                                    \
    if (more != 0) dk_atomic_add_##space##_u64(at + 1, more);                                                         \
  }                                                                                                                   \
  DK_SHARED_FN void dk_atomic_add_##space##_sum192(qualifier dk_u64* at, dk_sum192 value) {                           \
    dk_u64 before = dk_atomic_add_##space##_u64(at, value.lo);                                                        \
    dk_u64 carry = before + value.lo < before;                                                                        \
    dk_u64 mid = value.mid + carry;                                                                                   \
    carry = mid < carry;                                                                                              \
    if (mid != 0) {                                                                                                   \
      before = dk_atomic_add_##space##_u64(at + 1, mid);                                                              \
      carry += before + mid < before;                                                                                 \
    }                                                                                                                 \
    if (value.hi + carry != 0) dk_atomic_add_##space##_u64(at + 2, value.hi + carry);                                 \
  }                                                                                                                   \
  DK_SHARED_FN void dk_replace_if_less_##space##_i128(qualifier dk_u64* at, dk_i128 value, dk_bool greatest) {        \
    dk_i128 best = dk_make_i128((dk_i64)dk_atomic_load_##space##_u64(at + 1), dk_atomic_load_##space##_u64(at));      \
    if (greatest ? dk_lt_i128(best, value) : dk_lt_i128(value, best)) {                                               \
      dk_atomic_store_##space##_u64(at, value.lo);                                                                    \
      dk_atomic_store_##space##_u64(at + 1, (dk_u64)value.hi);                                                        \
    }                                                                                                                 \
  }                                                                                                                   \
  DK_SHARED_FN void dk_locked_min_##space##_i128(qualifier dk_u32* lock, qualifier dk_u64* at, dk_i128 value) {       \
    if (value.hi <= (dk_i64)dk_atomic_load_##space##_u64(at + 1))                                                     \
      DK_LOCKED(space, lock, dk_replace_if_less_##space##_i128(at, value, 0))                                         \
  }                                                                                                                   \
  DK_SHARED_FN void dk_locked_max_##space##_i128(qualifier dk_u32* lock, qualifier dk_u64* at, dk_i128 value) {       \
    if (value.hi >= (dk_i64)dk_atomic_load_##space##_u64(at + 1))                                                     \
      DK_LOCKED(space, lock, dk_replace_if_less_##space##_i128(at, value, 1))                                         \
  }                                                                                                                   \
  DK_SHARED_FN void dk_add_to_##space##_moments(qualifier dk_u64* at, dk_moments value) {                             \
    dk_moments sum = dk_moments_of_words(dk_atomic_load_##space##_u64(at), dk_atomic_load_##space##_u64(at + 1),      \
                                         dk_atomic_load_##space##_u64(at + 2));                                       \
    sum = dk_add_moments(sum, value);                                                                                 \
    dk_atomic_store_##space##_u64(at, DK_F64_BITS(sum.count));                                                        \
    dk_atomic_store_##space##_u64(at + 1, DK_F64_BITS(sum.sum));                                                      \
    dk_atomic_store_##space##_u64(at + 2, DK_F64_BITS(sum.squares));                                                  \
  }                                                                                                                   \
  DK_SHARED_FN void dk_locked_add_##space##_moments(qualifier dk_u32* lock, qualifier dk_f64* at, dk_moments value) { \
    DK_LOCKED(space, lock, dk_add_to_##space##_moments((qualifier dk_u64*)at, value))                                 \
  }

// clang-format off
DK_AGGREGATES_IN(global, DK_GLOBAL)
DK_AGGREGATES_IN(local, DK_LOCAL)
// clang-format on
