// ln, exp, log and power of numeric, with MPFR: functions of convert_host.h. A result is computed to far more bits than
// its 38 digits have and rounded once, halves away from zero.
#include <cstdint>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "kernel/kernel.h"

namespace {

// 38 digits are 127 bits. An argument near 1 loses as many in a logarithm; a power's error is its exponent's times
// larger, which has 38 digits as well.
constexpr mpfr_prec_t function_bits = 256;
constexpr mpfr_prec_t power_bits = 448;

// MPFR keeps constants for each thread that used it.
struct ThreadCache {
  ~ThreadCache() { mpfr_free_cache(); }
};

class Float {
 public:
  explicit Float(mpfr_prec_t bits) {
    thread_local ThreadCache cache;
    static_cast<void>(&cache);
    mpfr_init2(value_, bits);
  }
  ~Float() { mpfr_clear(value_); }
  Float(const Float&) = delete;
  Float& operator=(const Float&) = delete;
  mpfr_ptr get() { return value_; }

  void set_magnitude(dk_u128 magnitude) {
    mpfr_set_uj(value_, magnitude.hi, MPFR_RNDN);
    mpfr_mul_2ui(value_, value_, 64, MPFR_RNDN);
    Float low(64);
    mpfr_set_uj(low.value_, magnitude.lo, MPFR_RNDN);
    mpfr_add(value_, value_, low.value_, MPFR_RNDN);
  }
  void set(dk_i128 a, dk_i32 scale) {
    set_magnitude(dk_magnitude_i128(a));
    if (a.hi < 0) mpfr_neg(value_, value_, MPFR_RNDN);
    if (scale <= 0) return;
    Float unit(128);
    unit.set_magnitude(dk_power_of_ten(scale));
    mpfr_div(value_, value_, unit.value_, MPFR_RNDN);
  }
  // As an integer times 10^-scale.
  dk_i128 to_numeric(dk_i32 precision, dk_i32 scale, dk_i32* error) {
    Float limit(128);
    limit.set_magnitude(dk_power_of_ten(scale));
    mpfr_mul(value_, value_, limit.value_, MPFR_RNDN);
    mpfr_round(value_, value_);
    limit.set_magnitude(dk_power_of_ten(precision));
    if (mpfr_nan_p(value_) != 0 || mpfr_cmpabs(value_, limit.value_) >= 0) {
      dk_raise(error, DK_NUMERIC_OUT_OF_RANGE);
      return dk_make_i128(0, 0);
    }
    const bool negative = mpfr_sgn(value_) < 0;
    mpfr_abs(value_, value_, MPFR_RNDN);
    mpfr_div_2ui(limit.value_, value_, 64, MPFR_RNDD);
    mpfr_trunc(limit.value_, limit.value_);
    const dk_u64 high = mpfr_get_uj(limit.value_, MPFR_RNDN);
    mpfr_mul_2ui(limit.value_, limit.value_, 64, MPFR_RNDN);
    mpfr_sub(value_, value_, limit.value_, MPFR_RNDN);
    return dk_with_sign(dk_make_u128(high, mpfr_get_uj(value_, MPFR_RNDN)), negative);
  }

 private:
  mpfr_t value_;
};

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

dk_i128 apply(Function function, dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  Float value(function_bits);
  value.set(a, scale_a);
  function(value.get(), value.get(), MPFR_RNDN);
  return value.to_numeric(precision, scale, error);
}

bool is_zero(dk_i128 a) { return (a.lo | static_cast<dk_u64>(a.hi)) == 0; }

// Raises for what has no logarithm.
bool has_logarithm(dk_i128 a, dk_i32* error) {
  const bool positive = a.hi >= 0 && !is_zero(a);
  if (!positive) dk_raise(error, DK_LOG_DOMAIN);
  return positive;
}

bool is_whole(dk_i128 a, dk_i32 scale) {
  dk_u128 rest;
  dk_divide_u128(dk_magnitude_i128(a), dk_power_of_ten(scale), &rest);
  return dk_is_zero_u128(rest) != 0;
}

}  // namespace

dk_i128 dk_exp_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  return apply(mpfr_exp, a, scale_a, precision, scale, error);
}

dk_i128 dk_ln_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  if (!has_logarithm(a, error)) return a;
  return apply(mpfr_log, a, scale_a, precision, scale, error);
}

dk_i128 dk_log10_n128(dk_i128 a, dk_i32 scale_a, dk_i32 precision, dk_i32 scale, dk_i32* error) {
  if (!has_logarithm(a, error)) return a;
  return apply(mpfr_log10, a, scale_a, precision, scale, error);
}

dk_i128 dk_log_base_n128(dk_i128 base, dk_i128 a, dk_i32 scale_base, dk_i32 scale_a, dk_i32 precision, dk_i32 scale,
                         dk_i32* error) {
  if (!has_logarithm(base, error) || !has_logarithm(a, error)) return a;
  Float divisor(power_bits);
  Float value(power_bits);
  divisor.set(base, scale_base);
  mpfr_log(divisor.get(), divisor.get(), MPFR_RNDN);
  if (mpfr_zero_p(divisor.get()) != 0) {
    dk_raise(error, DK_DIVISION_BY_ZERO);
    return a;
  }
  value.set(a, scale_a);
  mpfr_log(value.get(), value.get(), MPFR_RNDN);
  mpfr_div(value.get(), value.get(), divisor.get(), MPFR_RNDN);
  return value.to_numeric(precision, scale, error);
}

dk_i128 dk_power_n128(dk_i128 a, dk_i128 b, dk_i32 scale_a, dk_i32 scale_b, dk_i32 precision, dk_i32 scale,
                      dk_i32* error) {
  if ((is_zero(a) && b.hi < 0) || (a.hi < 0 && !is_whole(b, scale_b))) {
    dk_raise(error, DK_POWER_DOMAIN);
    return a;
  }
  Float value(power_bits);
  Float exponent(power_bits);
  value.set(a, scale_a);
  exponent.set(b, scale_b);
  mpfr_pow(value.get(), value.get(), exponent.get(), MPFR_RNDN);
  return value.to_numeric(precision, scale, error);
}
