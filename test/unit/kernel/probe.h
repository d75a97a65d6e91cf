// A sample of the kernel functions, itself in the kernel subset: compiled by every compiler, it makes a number of what
// they give for one row of random input, so that the compilers' results can be compared.
#pragma once

#define DK_PROBES 40

DK_FN dk_u64 dk_probe_text(DK_GLOBAL const char* data, dk_i32 length) {
  return dk_hash_text(dk_make_text(data, length));
}

DK_FN dk_u64 dk_probe_i128(dk_i128 a) { return dk_hash_i128(a); }

// A finite number of any size from random bits.
DK_FN dk_f64 dk_probe_f64(dk_i64 a) { return (dk_f64)a / (dk_f64)(((dk_u64)a >> 40) + 1); }

DK_FN dk_interval dk_probe_interval(dk_i64 a, dk_i64 b) {
  return dk_make_interval_of((dk_i32)(a >> 40), (dk_i32)(b >> 40), b >> 8);
}

DK_FN dk_u64 dk_probe_interval_hash(dk_interval a) {
  return dk_hash_combine(dk_hash_combine(dk_hash_i32(a.months), dk_hash_i32(a.days)), dk_hash_i64(a.microseconds));
}

DK_FN dk_u64 dk_probe_numbers(dk_i32 which, dk_i64 a, dk_i64 b, dk_i128 wide, DK_PRIVATE dk_i32* error) {
  switch (which) {
    case 0: return (dk_u64)dk_add_i64(a, b, error);
    case 1: return (dk_u64)dk_mul_i64(a, b, error);
    case 2: return (dk_u64)dk_div_i64(a, b, error);
    case 3: return (dk_u64)dk_mod_i32((dk_i32)a, (dk_i32)b, error);
    case 4: return (dk_u64)dk_mul_i32((dk_i32)a, (dk_i32)b, error);
    case 5: return dk_probe_i128(dk_mul_wide_i64(a, b));
    case 6: return dk_probe_i128(dk_add_i128(wide, dk_widen_i64(a), error));
    case 7: return dk_probe_i128(dk_mul_i128(wide, dk_widen_i64(b), error));
    case 8: return dk_probe_i128(dk_div_i128(wide, dk_widen_i64(b), 20, error));
    case 9: return dk_probe_i128(dk_div_wide_i64(a, b, 16, error));
    case 10: return dk_probe_i128(dk_mod_i128(wide, dk_widen_i64(b), error));
    case 11: return dk_probe_i128(dk_round_digits_n128(wide, 3, 9, 38, 9, error));
    case 12: return dk_hash_f64(dk_cast_n128_f64(wide, 11));
    case 13: return dk_hash_f64(dk_add_f64(dk_probe_f64(a), dk_probe_f64(b), error));
    case 14: return dk_hash_f64(dk_mul_f64(dk_probe_f64(a), dk_probe_f64(b), error));
    case 15: return dk_hash_f64(dk_div_f64(dk_probe_f64(a), dk_probe_f64(b), error));
    case 16: return dk_hash_f64(dk_sqrt_f64(dk_probe_f64(a), error));
    case 17: return (dk_u64)dk_cast_f64_i32(dk_probe_f64(a), error);
    case 18: return dk_hash_f64(dk_round_f64(dk_probe_f64(b)));
    case 19: return dk_probe_i128(dk_sqrt_n128(wide, 4, 38, 16, error));
  }
  return 0;
}

DK_FN dk_u64 dk_probe_dates(dk_i32 which, dk_i64 a, dk_i64 b, DK_PRIVATE dk_i32* error) {
  dk_i64 t = a >> 3;
  switch (which) {
    case 20: return (dk_u64)dk_extract_year_timestamp(t, error);
    case 21: return (dk_u64)dk_extract_week_timestamp(t, error);
    case 22: return (dk_u64)dk_add_timestamp_interval(t, dk_probe_interval(a, b), error);
    case 23: return dk_probe_interval_hash(dk_mul_interval_f64(dk_probe_interval(a, b), dk_probe_f64(b) / 1e9, error));
    case 24: return (dk_u64)dk_date_trunc_quarter(t, error);
    case 25: return dk_probe_interval_hash(dk_age_timestamp(t, b >> 3, error));
    case 26: return dk_hash_interval(dk_probe_interval(a, b));
  }
  return 0;
}

// `text` and `pattern` are of the letters a to d, %, _ and others; `digits` looks like a number, a date or an interval.
DK_FN dk_u64 dk_probe_texts(dk_i32 which, dk_i64 a, dk_text text, dk_text pattern, dk_text digits, DK_GLOBAL char* out,
                            DK_PRIVATE dk_i32* error) {
  dk_text piece;
  switch (which) {
    case 27: return dk_like_text(text, pattern, error);
    case 28: return dk_ilike_text(text, pattern, error);
    case 29: return (dk_u64)dk_position_text(text, pattern);
    case 30:
      piece = dk_substring_text(text, (dk_i32)(a & 7), (dk_i32)(a >> 60) & 7, error);
      return dk_probe_text(piece.data, piece.length);
    case 31:
      if (dk_replace_text_size(text, pattern, digits, error) > 200) return 0;
      return dk_probe_text(out, dk_replace_text_write(text, pattern, digits, out));
    case 32: return dk_probe_text(out, dk_reverse_text_write(text, out));
    case 33: return (dk_u64)dk_cast_text_i64(digits, error);
    case 34: return dk_probe_i128(dk_cast_text_n128(digits, 38, 6, error));
    case 35: return (dk_u64)dk_cast_text_timestamp(digits, error);
    case 36: return dk_probe_interval_hash(dk_cast_text_interval(digits, error));
    case 37: return dk_probe_text(out, dk_cast_n128_text_write(dk_mul_wide_i64(a, a), 7, out));
    case 38: return dk_probe_text(out, dk_cast_timestamp_text_write(a >> 3, out));
    case 39: return dk_probe_text(out, dk_cast_interval_text_write(dk_probe_interval(a, ~a), out));
  }
  return 0;
}

DK_FN dk_u64 dk_probe(dk_i32 which, dk_i64 a, dk_i64 b, dk_text text, dk_text pattern, dk_text digits,
                      DK_GLOBAL char* out) {
  dk_i32 error = 0;
  dk_u64 r = 0;
  if (which < 20) {
    r = dk_probe_numbers(which, a, b, dk_mul_wide_i64(a, b >> 1), &error);
  } else if (which < 27) {
    r = dk_probe_dates(which, a, b, &error);
  } else {
    r = dk_probe_texts(which, a, text, pattern, digits, out, &error);
  }
  return error != 0 ? (dk_u64)error : r;
}
