// Values as u64 words that compare as unsigned numbers in the order of ORDER BY: PostgreSQL's, in which -0 equals 0 and
// NaN is the greatest. 128 bits take two words, _high and _low. What is done with NULL and DESC is the same for all.
#pragma once

#define DK_SORT_SIGN DK_U64(0x8000000000000000)

DK_FN dk_u64 dk_sort_word_bool(dk_bool a) { return a; }
DK_FN dk_u64 dk_sort_word_i64(dk_i64 a) { return (dk_u64)a ^ DK_SORT_SIGN; }
DK_FN dk_u64 dk_sort_word_i32(dk_i32 a) { return dk_sort_word_i64(a); }
DK_FN dk_u64 dk_sort_word_f64(dk_f64 a) {
  dk_u64 bits = a != a ? DK_F64_BITS(DK_NAN_F64) : a == 0 ? 0 : DK_F64_BITS(a);
  return (bits & DK_SORT_SIGN) != 0 ? ~bits : bits | DK_SORT_SIGN;
}
DK_FN dk_u64 dk_sort_word_f32(dk_f32 a) { return dk_sort_word_f64(a); }
DK_FN dk_u64 dk_sort_high_i128(dk_i128 a) { return (dk_u64)a.hi ^ DK_SORT_SIGN; }
DK_FN dk_u64 dk_sort_low_i128(dk_i128 a) { return a.lo; }
DK_FN dk_u64 dk_sort_high_interval(dk_interval a) { return dk_sort_high_i128(dk_span_of_interval(a)); }
DK_FN dk_u64 dk_sort_low_interval(dk_interval a) { return dk_sort_low_i128(dk_span_of_interval(a)); }
// Of a string the first 8 bytes, which do not order all strings.
DK_FN dk_u64 dk_sort_word_text(dk_text a) { return dk_text_word(a, 0); }

// The word before those of a value that can be NULL. NULLs come last unless they are asked for first, whichever way the
// values are sorted.
DK_FN dk_u64 dk_sort_null(dk_bool valid, dk_bool nulls_first) { return valid == nulls_first; }

// A word of the value as it is sorted by; of NULL, always the same.
DK_FN dk_u64 dk_sort_value(dk_bool valid, dk_u64 word, dk_bool descending) {
  dk_u64 kept = valid ? word : 0;
  return descending ? ~kept : kept;
}

// An integer with known bounds as a small number, to share a word with others. first_value: the bound that sorts first,
// which has first_code; NULL has null_code.
DK_FN dk_u64 dk_sort_code(dk_bool valid, dk_i64 value, dk_bool descending, dk_i64 first_value, dk_u64 first_code,
                          dk_u64 null_code) {
  dk_u64 offset = descending ? (dk_u64)first_value - (dk_u64)value : (dk_u64)value - (dk_u64)first_value;
  return valid ? first_code + offset : null_code;
}
