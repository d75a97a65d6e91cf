// real and double precision with PostgreSQL's meaning: IEEE 754, except that a finite operation that overflows to
// infinity or underflows to zero is an error, that NaN equals NaN and is greater than any other number.
#pragma once

#define DK_INFINITY_F64 DK_F64_OF_BITS(DK_U64(0x7FF0000000000000))
#define DK_NAN_F64 DK_F64_OF_BITS(DK_U64(0x7FF8000000000000))
#define DK_MAX_F64 DK_F64_OF_BITS(DK_U64(0x7FEFFFFFFFFFFFFF))
#define DK_MAX_F32 ((dk_f32)3.40282346638528859812e+38)

// Arithmetic without a branch. An operation overflows when the result is infinite and no argument is.
#define DK_FLOAT_FUNCTIONS(suffix, type, max)                                                                      \
  DK_FN dk_bool dk_is_nan_##suffix(type a) { return a != a; }                                                      \
  DK_FN dk_bool dk_is_inf_##suffix(type a) { return (a > max) | (a < -max); }                                      \
  DK_FN type dk_add_unchecked_##suffix(type a, type b) { return a + b; }                                           \
  DK_FN type dk_sub_unchecked_##suffix(type a, type b) { return a - b; }                                           \
  DK_FN type dk_mul_unchecked_##suffix(type a, type b) { return a * b; }                                           \
  DK_FN type dk_neg_##suffix(type a) { return -a; }                                                                \
  DK_FN type dk_add_##suffix(type a, type b, DK_PRIVATE dk_i32* error) {                                           \
    type r = a + b;                                                                                                \
    DK_RAISE_IF(dk_is_inf_##suffix(r) & !dk_is_inf_##suffix(a) & !dk_is_inf_##suffix(b), DK_NUMERIC_OUT_OF_RANGE); \
    return r;                                                                                                      \
  }                                                                                                                \
  DK_FN type dk_sub_##suffix(type a, type b, DK_PRIVATE dk_i32* error) { return dk_add_##suffix(a, -b, error); }   \
  DK_FN type dk_mul_##suffix(type a, type b, DK_PRIVATE dk_i32* error) {                                           \
    type r = a * b;                                                                                                \
    dk_bool overflow = dk_is_inf_##suffix(r) & !dk_is_inf_##suffix(a) & !dk_is_inf_##suffix(b);                    \
    dk_bool underflow = (r == 0) & (a != 0) & (b != 0);                                                            \
    DK_RAISE_IF(overflow | underflow, DK_NUMERIC_OUT_OF_RANGE);                                                    \
    return r;                                                                                                      \
  }                                                                                                                \
  DK_FN type dk_div_##suffix(type a, type b, DK_PRIVATE dk_i32* error) {                                           \
    type r = a / (b == 0 ? (type)1 : b);                                                                           \
    dk_bool overflow = dk_is_inf_##suffix(r) & !dk_is_inf_##suffix(a);                                             \
    dk_bool underflow = (r == 0) & (a != 0) & !dk_is_inf_##suffix(b);                                              \
    if (overflow | underflow) dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);                                            \
    if ((b == 0) & (a == a)) dk_raise(error, DK_DIVISION_BY_ZERO);                                                 \
    return b == 0 ? a : r; /* NaN / 0 is NaN */                                                                    \
  }                                                                                                                \
  DK_FN dk_bool dk_eq_##suffix(type a, type b) { return (a == b) | ((a != a) & (b != b)); }                        \
  DK_FN dk_bool dk_ne_##suffix(type a, type b) { return (a != b) & ((a == a) | (b == b)); }                        \
  DK_FN dk_bool dk_lt_##suffix(type a, type b) { return (a < b) | ((a == a) & (b != b)); }                         \
  DK_FN dk_bool dk_gt_##suffix(type a, type b) { return (a > b) | ((a != a) & (b == b)); }                         \
  DK_FN dk_bool dk_le_##suffix(type a, type b) { return (a <= b) | (b != b); }                                     \
  DK_FN dk_bool dk_ge_##suffix(type a, type b) { return (a >= b) | (a != a); }                                     \
  DK_FN dk_i32 dk_cmp_##suffix(type a, type b) { return (dk_i32)dk_gt_##suffix(a, b) - (dk_i32)dk_lt_##suffix(a, b); }

DK_FLOAT_FUNCTIONS(f32, dk_f32, DK_MAX_F32)
DK_FLOAT_FUNCTIONS(f64, dk_f64, DK_MAX_F64)

DK_FN dk_f32 dk_abs_f32(dk_f32 a) { return DK_MATH1_F32(fabs, a); }
DK_FN dk_f64 dk_abs_f64(dk_f64 a) { return DK_MATH1_F64(fabs, a); }
// 0 for NaN, as PostgreSQL has it.
DK_FN dk_f64 dk_sign_f64(dk_f64 a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }

// Halves to even, as the C library's rint in its default mode.
DK_FN dk_f64 dk_round_f64(dk_f64 a) { return DK_MATH1_F64(rint, a); }
DK_FN dk_f64 dk_trunc_f64(dk_f64 a) { return DK_MATH1_F64(trunc, a); }
DK_FN dk_f64 dk_ceil_f64(dk_f64 a) { return DK_MATH1_F64(ceil, a); }
DK_FN dk_f64 dk_floor_f64(dk_f64 a) { return DK_MATH1_F64(floor, a); }

// The remainder with the sign of the dividend, for programs; SQL has % on numeric and integers only.
DK_FN dk_f64 dk_mod_f64(dk_f64 a, dk_f64 b, DK_PRIVATE dk_i32* error) {
  if ((b == 0) & (a == a)) dk_raise(error, DK_DIVISION_BY_ZERO);
  return DK_MATH2_F64(fmod, a, b);
}

// The result of a function of finite arguments; infinity means that it overflowed.
DK_FN dk_f64 dk_check_overflow(dk_f64 r, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_is_inf_f64(r), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_f64 dk_sqrt_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  if (a < 0) dk_raise(error, DK_POWER_DOMAIN);
  return DK_MATH1_F64(sqrt, a < 0 ? 0 : a);
}

DK_FN dk_f64 dk_cbrt_f64(dk_f64 a) { return DK_MATH1_F64(cbrt, a); }

DK_FN dk_f64 dk_exp_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  if (a != a || dk_is_inf_f64(a)) return a < 0 ? 0 : a;
  dk_f64 r = DK_MATH1_F64(exp, a);
  DK_RAISE_IF(r == 0 || dk_is_inf_f64(r), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

DK_FN dk_f64 dk_ln_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  if (a <= 0) dk_raise(error, DK_LOG_DOMAIN);
  return DK_MATH1_F64(log, a <= 0 ? 1 : a);
}

DK_FN dk_f64 dk_log10_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  if (a <= 0) dk_raise(error, DK_LOG_DOMAIN);
  return DK_MATH1_F64(log10, a <= 0 ? 1 : a);
}

DK_FN dk_f64 dk_power_f64(dk_f64 a, dk_f64 b, DK_PRIVATE dk_i32* error) {
  if (a != a) return b == 0 ? 1 : a;
  if (b != b) return a == 1 ? 1 : b;
  if ((a == 0 && b < 0) || (a < 0 && DK_MATH1_F64(floor, b) != b)) {
    dk_raise(error, DK_POWER_DOMAIN);
    return 0;
  }
  dk_f64 r = DK_MATH2_F64(pow, a, b);
  if (dk_is_inf_f64(a) || dk_is_inf_f64(b)) return r;
  DK_RAISE_IF(dk_is_inf_f64(r) || (r == 0 && a != 0), DK_NUMERIC_OUT_OF_RANGE);
  return r;
}

// ---- trigonometry; PostgreSQL refuses infinite angles

#define DK_PI 3.14159265358979323846

DK_FN dk_f64 dk_pi_f64(void) { return DK_PI; }
DK_FN dk_f64 dk_degrees_f64(dk_f64 a, DK_PRIVATE dk_i32* error) { return dk_div_f64(a, DK_PI / 180, error); }
DK_FN dk_f64 dk_radians_f64(dk_f64 a, DK_PRIVATE dk_i32* error) { return dk_mul_f64(a, DK_PI / 180, error); }

DK_FN dk_f64 dk_sin_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_is_inf_f64(a), DK_NUMERIC_OUT_OF_RANGE);
  return DK_MATH1_F64(sin, a);
}
DK_FN dk_f64 dk_cos_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_is_inf_f64(a), DK_NUMERIC_OUT_OF_RANGE);
  return DK_MATH1_F64(cos, a);
}
DK_FN dk_f64 dk_tan_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(dk_is_inf_f64(a), DK_NUMERIC_OUT_OF_RANGE);
  return DK_MATH1_F64(tan, a);
}
DK_FN dk_f64 dk_asin_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(a < -1 || a > 1, DK_NUMERIC_OUT_OF_RANGE);
  return DK_MATH1_F64(asin, a);
}
DK_FN dk_f64 dk_acos_f64(dk_f64 a, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(a < -1 || a > 1, DK_NUMERIC_OUT_OF_RANGE);
  return DK_MATH1_F64(acos, a);
}
DK_FN dk_f64 dk_atan_f64(dk_f64 a) { return DK_MATH1_F64(atan, a); }
DK_FN dk_f64 dk_atan2_f64(dk_f64 y, dk_f64 x) { return DK_MATH2_F64(atan2, y, x); }
