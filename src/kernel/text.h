// Text: measures, comparison, search and pieces. UTF-8 compared bytewise (C collation); places count characters from 1.
//
// A character is a byte that is no continuation (10xxxxxx) with the continuations after it, so invalid UTF-8 is counted
// somehow and never read beyond its end.
#pragma once

// ---- bytes

DK_FN dk_text dk_make_text(DK_GLOBAL const char* data, dk_i32 length) {
  dk_text r;
  r.data = data;
  r.length = length;
  return r;
}

// The bytes [from, to) of a text.
DK_FN dk_text dk_slice(dk_text a, dk_i32 from, dk_i32 to) {
  return to > from ? dk_make_text(a.data + from, to - from) : dk_make_text(a.data, 0);
}

DK_FN dk_i32 dk_compare_bytes(DK_GLOBAL const char* a, DK_GLOBAL const char* b, dk_i32 length) {
#if DK_HAS_LIBC
  return length > 0 ? __builtin_memcmp(a, b, (dk_u64)length) : 0;
#else
  for (dk_i32 i = 0; i < length; i++) {
    if (a[i] != b[i]) return (dk_i32)(dk_u8)a[i] - (dk_i32)(dk_u8)b[i];
  }
  return 0;
#endif
}

DK_FN void dk_copy_bytes(DK_GLOBAL char* out, DK_GLOBAL const char* data, dk_i32 length) {
#if DK_HAS_LIBC
  if (length > 0) __builtin_memcpy(out, data, (dk_u64)length);
#else
  for (dk_i32 i = 0; i < length; i++) out[i] = data[i];
#endif
}

// The first place from `from` on of a byte, or -1.
DK_FN dk_i32 dk_find_byte(dk_text a, dk_i32 from, char byte) {
#if DK_HAS_LIBC
  if (from >= a.length) return -1;
  const void* found = __builtin_memchr(a.data + from, byte, (dk_u64)(a.length - from));
  return found == nullptr ? -1 : (dk_i32)((const char*)found - a.data);
#else
  for (dk_i32 i = from; i < a.length; i++) {
    if (a.data[i] == byte) return i;
  }
  return -1;
#endif
}

// The first place from `from` on of a text that is not empty, or -1. No UTF-8 character is found inside another.
DK_FN dk_i32 dk_find(dk_text a, dk_i32 from, dk_text part) {
  dk_text starts = dk_make_text(a.data, a.length - part.length + 1);
  for (dk_i32 at = from;; at++) {
    at = dk_find_byte(starts, at, part.data[0]);
    if (at < 0 || dk_compare_bytes(a.data + at, part.data, part.length) == 0) return at;
  }
}

// ---- comparisons

// The bytes [from, from + 8) as a number that compares as they do; 0s behind the end.
DK_FN dk_u64 dk_text_word(dk_text a, dk_i64 from) {
  dk_i64 there = a.length - from;
  dk_u64 word = 0;
#if DK_HAS_LIBC
  if (there >= 8)
    __builtin_memcpy(&word, a.data + from, 8);
  else if (there > 0)
    __builtin_memcpy(&word, a.data + from, (dk_u64)there);
  return __builtin_bswap64(word);
#else
  for (dk_i32 i = 0; i < 8; i++) word = word << 8 | (i < there ? (dk_u8)a.data[from + i] : 0);
  return word;
#endif
}

DK_FN dk_i32 dk_cmp_text(dk_text a, dk_text b) {
  dk_i32 r = dk_compare_bytes(a.data, b.data, a.length < b.length ? a.length : b.length);
  if (r != 0) return r < 0 ? -1 : 1;
  return (a.length > b.length) - (a.length < b.length);
}
DK_FN dk_bool dk_eq_text(dk_text a, dk_text b) {
  return a.length == b.length && dk_compare_bytes(a.data, b.data, a.length) == 0;
}
DK_FN dk_bool dk_ne_text(dk_text a, dk_text b) { return !dk_eq_text(a, b); }
DK_FN dk_bool dk_lt_text(dk_text a, dk_text b) { return dk_cmp_text(a, b) < 0; }
DK_FN dk_bool dk_le_text(dk_text a, dk_text b) { return dk_cmp_text(a, b) <= 0; }
DK_FN dk_bool dk_gt_text(dk_text a, dk_text b) { return dk_cmp_text(a, b) > 0; }
DK_FN dk_bool dk_ge_text(dk_text a, dk_text b) { return dk_cmp_text(a, b) >= 0; }

DK_FN dk_bool dk_starts_with_text(dk_text a, dk_text part) {
  return a.length >= part.length && dk_compare_bytes(a.data, part.data, part.length) == 0;
}
// What LIKE '%part' and LIKE '%part%' come to.
DK_FN dk_bool dk_ends_with_text(dk_text a, dk_text part) {
  return a.length >= part.length &&
         (part.length == 0 || dk_compare_bytes(a.data + (a.length - part.length), part.data, part.length) == 0);
}
DK_FN dk_bool dk_contains_text(dk_text a, dk_text part) { return part.length == 0 || dk_find(a, 0, part) >= 0; }

// ---- characters

DK_FN dk_bool dk_starts_char(char byte) { return ((dk_u8)byte & 0xC0) != 0x80; }

// Characters that begin within the bytes [from, to).
DK_FN dk_i32 dk_count_chars(dk_text a, dk_i32 from, dk_i32 to) {
  dk_i32 count = 0;
  for (dk_i32 i = from; i < to; i++) count += dk_starts_char(a.data[i]);
  return count;
}

// The byte after the character at `at`; the text's end if there is none.
DK_FN dk_i32 dk_next_char(dk_text a, dk_i32 at) {
  if (at >= a.length) return a.length;
  at++;
  while (at < a.length && !dk_starts_char(a.data[at])) at++;
  return at;
}

// The first byte of the character that ends before `at`.
DK_FN dk_i32 dk_previous_char(dk_text a, dk_i32 at) {
  if (at <= 0) return 0;
  at--;
  while (at > 0 && !dk_starts_char(a.data[at])) at--;
  return at;
}

// The byte after so many characters from `at`.
DK_FN dk_i32 dk_skip_chars(dk_text a, dk_i32 at, dk_i64 count) {
  if (count >= a.length - at) return a.length;  // a character has a byte or more
  for (; count > 0 && at < a.length; count--) at = dk_next_char(a, at);
  return at;
}

// Whether the character of a at the bytes [from, to) occurs in the set.
DK_FN dk_bool dk_char_in_set(dk_text a, dk_i32 from, dk_i32 to, dk_text set) {
  for (dk_i32 at = 0; at < set.length;) {
    dk_i32 next = dk_next_char(set, at);
    if (next - at == to - from && dk_compare_bytes(a.data + from, set.data + at, to - from) == 0) return 1;
    at = next;
  }
  return 0;
}

// ---- measures

DK_FN dk_i32 dk_length_text(dk_text a) { return dk_count_chars(a, 0, a.length); }
DK_FN dk_i32 dk_octet_length_text(dk_text a) { return a.length; }
DK_FN dk_i32 dk_bit_length_text(dk_text a) { return (dk_i32)((dk_u32)a.length * 8); }

DK_FN dk_i32 dk_position_text(dk_text a, dk_text part) {
  if (part.length == 0) return 1;
  dk_i32 at = dk_find(a, 0, part);
  return at < 0 ? 0 : dk_count_chars(a, 0, at) + 1;
}

// The number in the bits of a UTF-8 sequence: 6 of each continuation, after what the first byte has.
DK_FN dk_i32 dk_ascii_text(dk_text a) {
  if (a.length == 0) return 0;
  dk_i32 first = (dk_u8)a.data[0];
  if (first < 0x80) return first;
  dk_i32 bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  dk_i32 r = first & (0xFF >> (bytes + 1));
  for (dk_i32 i = 1; i < bytes && i < a.length; i++) r = (r << 6) | (a.data[i] & 0x3F);
  return r;
}

// ---- pieces

DK_FN dk_text dk_substring_from_text(dk_text a, dk_i32 from) {
  return dk_slice(a, from > 1 ? dk_skip_chars(a, 0, (dk_i64)from - 1) : 0, a.length);
}

// The characters at the places from ... from + count - 1, of which some may lie before the text.
DK_FN dk_text dk_substring_text(dk_text a, dk_i32 from, dk_i32 count, DK_PRIVATE dk_i32* error) {
  if (count < 0) {
    dk_raise(error, DK_SUBSTRING_LENGTH);
    return dk_slice(a, 0, 0);
  }
  dk_i64 end = (dk_i64)from + count;
  if (end <= 1) return dk_slice(a, 0, 0);
  dk_i32 start = from > 1 ? dk_skip_chars(a, 0, (dk_i64)from - 1) : 0;
  return dk_slice(a, start, dk_skip_chars(a, start, end - (from > 1 ? from : 1)));
}

// The byte before so many last characters.
DK_FN dk_i32 dk_before_last_chars(dk_text a, dk_i64 count) {
  dk_i32 at = a.length;
  for (; count > 0 && at > 0; count--) at = dk_previous_char(a, at);
  return at;
}

DK_FN dk_text dk_left_text(dk_text a, dk_i32 count) {
  return dk_slice(a, 0, count >= 0 ? dk_skip_chars(a, 0, count) : dk_before_last_chars(a, -(dk_i64)count));
}
DK_FN dk_text dk_right_text(dk_text a, dk_i32 count) {
  if (count == -2147483647 - 1) return a;  // as PostgreSQL, where it has no opposite
  return dk_slice(a, count >= 0 ? dk_before_last_chars(a, count) : dk_skip_chars(a, 0, -(dk_i64)count), a.length);
}

DK_FN dk_text dk_ltrim_text(dk_text a) {
  dk_i32 from = 0;
  while (from < a.length && a.data[from] == ' ') from++;
  return dk_slice(a, from, a.length);
}
DK_FN dk_text dk_rtrim_text(dk_text a) {
  dk_i32 to = a.length;
  while (to > 0 && a.data[to - 1] == ' ') to--;
  return dk_slice(a, 0, to);
}
DK_FN dk_text dk_trim_text(dk_text a) { return dk_ltrim_text(dk_rtrim_text(a)); }

DK_FN dk_text dk_ltrim_set_text(dk_text a, dk_text set) {
  dk_i32 from = 0;
  while (from < a.length && dk_char_in_set(a, from, dk_next_char(a, from), set)) from = dk_next_char(a, from);
  return dk_slice(a, from, a.length);
}
DK_FN dk_text dk_rtrim_set_text(dk_text a, dk_text set) {
  dk_i32 to = a.length;
  while (to > 0 && dk_char_in_set(a, dk_previous_char(a, to), to, set)) to = dk_previous_char(a, to);
  return dk_slice(a, 0, to);
}
DK_FN dk_text dk_trim_set_text(dk_text a, dk_text set) { return dk_ltrim_set_text(dk_rtrim_set_text(a, set), set); }

DK_FN dk_i32 dk_count_parts(dk_text a, dk_text separator) {
  dk_i32 parts = 1;
  for (dk_i32 at = dk_find(a, 0, separator); at >= 0; at = dk_find(a, at + separator.length, separator)) parts++;
  return parts;
}

DK_FN dk_text dk_split_part_text(dk_text a, dk_text separator, dk_i32 n, DK_PRIVATE dk_i32* error) {
  if (n == 0) dk_raise(error, DK_INVALID_PARAMETER);
  if (n == 0 || a.length == 0) return dk_slice(a, 0, 0);
  if (separator.length == 0) return n == 1 || n == -1 ? a : dk_slice(a, 0, 0);
  dk_i64 part = n > 0 ? n : (dk_i64)dk_count_parts(a, separator) + n + 1;
  if (part < 1) return dk_slice(a, 0, 0);
  dk_i32 from = 0;
  for (;; part--) {
    dk_i32 end = dk_find(a, from, separator);
    if (part == 1) return dk_slice(a, from, end < 0 ? a.length : end);
    if (end < 0) return dk_slice(a, 0, 0);
    from = end + separator.length;
  }
}

// ---- character types of limited length; 0 is no limit. Blanks past the limit are always cut off.

DK_FN dk_text dk_cast_text_varchar(dk_text a, dk_i32 length) {
  return length > 0 ? dk_slice(a, 0, dk_skip_chars(a, 0, length)) : a;
}
DK_FN dk_text dk_cast_text_char(dk_text a, dk_i32 length) { return dk_rtrim_text(dk_cast_text_varchar(a, length)); }

DK_FN dk_text dk_assign_text_varchar(dk_text a, dk_i32 length, DK_PRIVATE dk_i32* error) {
  dk_text r = dk_cast_text_varchar(a, length);
  for (dk_i32 i = r.length; i < a.length; i++) {
    if (a.data[i] != ' ') dk_raise(error, DK_STRING_TOO_LONG);
  }
  return r;
}
DK_FN dk_text dk_assign_text_char(dk_text a, dk_i32 length, DK_PRIVATE dk_i32* error) {
  return dk_rtrim_text(dk_assign_text_varchar(a, length, error));
}
