// Whether a number is in an IN list: the list's values, sorted, in device memory. Strings: strings.h; intervals:
// interval_set.h.
#pragma once

#define DK_IN_OF(suffix, type)                                                           \
  DK_FN dk_bool dk_in_##suffix(DK_GLOBAL const type* values, dk_i32 count, type value) { \
    dk_i32 low = 0;                                                                      \
    dk_i32 high = count;                                                                 \
    while (low < high) {                                                                 \
      dk_i32 middle = (low + high) >> 1;                                                 \
      type there = values[middle];                                                       \
      if (dk_lt_##suffix(there, value)) {                                                \
        low = middle + 1;                                                                \
      } else {                                                                           \
        high = middle;                                                                   \
      }                                                                                  \
    }                                                                                    \
    if (low == count) return 0;                                                          \
    type nearest = values[low];                                                          \
    return dk_eq_##suffix(nearest, value);                                               \
  }

DK_IN_OF(bool, dk_bool)
DK_IN_OF(i32, dk_i32)
DK_IN_OF(i64, dk_i64)
DK_IN_OF(i128, dk_i128)
DK_IN_OF(f32, dk_f32)
DK_IN_OF(f64, dk_f64)
