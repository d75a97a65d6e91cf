// Functions that make new text, in two steps: _size tells the most bytes the result takes, _write writes it and returns
// how many it took. Between the two a GPU turns sizes into places by a prefix sum.
#pragma once

// No text is longer than 1 GB less a byte, as in PostgreSQL.
#define DK_TEXT_LIMIT 0x3FFFFFFF

DK_FN dk_i32 dk_check_text_size(dk_i64 bytes, DK_PRIVATE dk_i32* error) {
  DK_RAISE_IF(bytes > DK_TEXT_LIMIT, DK_LIMIT_EXCEEDED);
  return bytes > DK_TEXT_LIMIT ? 0 : (dk_i32)bytes;
}

DK_FN dk_i32 dk_append(DK_GLOBAL char* out, dk_i32 at, dk_text a) {
  dk_copy_bytes(out + at, a.data, a.length);
  return at + a.length;
}

DK_FN dk_i32 dk_concat_text_size(dk_text a, dk_text b, DK_PRIVATE dk_i32* error) {
  return dk_check_text_size((dk_i64)a.length + b.length, error);
}
DK_FN dk_i32 dk_concat_text_write(dk_text a, dk_text b, DK_GLOBAL char* out) {
  return dk_append(out, dk_append(out, 0, a), b);
}

// UTF-8 of a character by its Unicode number.
DK_FN dk_i32 dk_char_size(dk_i32 code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }
DK_FN dk_i32 dk_write_char(dk_i32 code, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_char_size(code);
  for (dk_i32 i = bytes - 1; i > 0; i--) {
    out[i] = (char)(0x80 | (code & 0x3F));
    code >>= 6;
  }
  out[0] = (char)(bytes == 1 ? code : code | (0xF0 << (4 - bytes)));
  return bytes;
}

// ---- case

enum dk_letter_case { DK_UPPER, DK_LOWER, DK_INITCAP };

#if DK_HAS_UNICODE
// Bytes of the text in another case, which is written where there is a place for it.
DK_FN dk_i32 dk_change_case(dk_text a, dk_i32 to, char* out) {
  dk_i32 bytes = 0;
  dk_bool in_word = 0;
  for (dk_i32 at = 0; at < a.length;) {
    dk_i32 next = dk_next_char(a, at);
    dk_i32 code = dk_ascii_text(dk_slice(a, at, next));
    dk_bool upper = to == DK_UPPER || (to == DK_INITCAP && !in_word);
    dk_i32 changed = upper ? dk_unicode_upper(code) : dk_unicode_lower(code);
    if (to == DK_INITCAP) in_word = dk_unicode_is_alnum(changed);
    if (changed != code) {
      bytes += out != nullptr ? dk_write_char(changed, out + bytes) : dk_char_size(changed);
    } else {
      bytes = out != nullptr ? dk_append(out, bytes, dk_slice(a, at, next)) : bytes + next - at;
    }
    at = next;
  }
  return bytes;
}
#endif

DK_FN dk_i32 dk_case_size(dk_text a, dk_i32 to, DK_PRIVATE dk_i32* error) {
#if DK_HAS_UNICODE
  // Two bytes become three at most; that is counted out only where it matters.
  dk_i64 most = (dk_i64)a.length + a.length / 2;
  return most <= DK_TEXT_LIMIT ? (dk_i32)most : dk_check_text_size(dk_change_case(a, to, nullptr), error);
#else
  if (!dk_is_ascii(a)) dk_raise(error, DK_CASE_BEYOND_ASCII);
  return a.length;
#endif
}
DK_FN dk_i32 dk_case_write(dk_text a, dk_i32 to, DK_GLOBAL char* out) {
  dk_u8 bits = 0;
  dk_bool in_word = 0;
  if (to == DK_INITCAP) {
    for (dk_i32 i = 0; i < a.length; i++) {
      char c = in_word ? dk_lower_char(a.data[i]) : dk_upper_char(a.data[i]);
      in_word = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
      bits |= (dk_u8)c;
      out[i] = c;
    }
  } else {
    for (dk_i32 i = 0; i < a.length; i++) {
      bits |= (dk_u8)a.data[i];
      out[i] = to == DK_UPPER ? dk_upper_char(a.data[i]) : dk_lower_char(a.data[i]);
    }
  }
#if DK_HAS_UNICODE
  if (bits >= 0x80) return dk_change_case(a, to, out);
#endif
  return a.length;
}

DK_FN dk_i32 dk_upper_text_size(dk_text a, DK_PRIVATE dk_i32* error) { return dk_case_size(a, DK_UPPER, error); }
DK_FN dk_i32 dk_upper_text_write(dk_text a, DK_GLOBAL char* out) { return dk_case_write(a, DK_UPPER, out); }
DK_FN dk_i32 dk_lower_text_size(dk_text a, DK_PRIVATE dk_i32* error) { return dk_case_size(a, DK_LOWER, error); }
DK_FN dk_i32 dk_lower_text_write(dk_text a, DK_GLOBAL char* out) { return dk_case_write(a, DK_LOWER, out); }
DK_FN dk_i32 dk_initcap_text_size(dk_text a, DK_PRIVATE dk_i32* error) { return dk_case_size(a, DK_INITCAP, error); }
DK_FN dk_i32 dk_initcap_text_write(dk_text a, DK_GLOBAL char* out) { return dk_case_write(a, DK_INITCAP, out); }

// ---- replacing

DK_FN dk_i32 dk_replace_text_size(dk_text a, dk_text from, dk_text to, DK_PRIVATE dk_i32* error) {
  if (from.length == 0) return a.length;
  dk_i64 found = dk_count_parts(a, from) - 1;
  return dk_check_text_size(a.length + found * (to.length - from.length), error);
}
DK_FN dk_i32 dk_replace_text_write(dk_text a, dk_text from, dk_text to, DK_GLOBAL char* out) {
  dk_i32 done = 0;
  dk_i32 bytes = 0;
  while (from.length > 0) {
    dk_i32 at = dk_find(a, done, from);
    if (at < 0) break;
    bytes = dk_append(out, bytes, dk_slice(a, done, at));
    bytes = dk_append(out, bytes, to);
    done = at + from.length;
  }
  return dk_append(out, bytes, dk_slice(a, done, a.length));
}

// What translate makes of the character of a at [at, next): the character itself, another, or nothing.
DK_FN dk_text dk_translate_char(dk_text a, dk_i32 at, dk_i32 next, dk_text from, dk_text to) {
  dk_i32 replacement = 0;
  for (dk_i32 i = 0; i < from.length;) {
    dk_i32 end = dk_next_char(from, i);
    if (end - i == next - at && dk_compare_bytes(from.data + i, a.data + at, next - at) == 0) {
      return dk_slice(to, replacement, dk_next_char(to, replacement));
    }
    i = end;
    replacement = dk_next_char(to, replacement);
  }
  return dk_slice(a, at, next);
}

DK_FN dk_i32 dk_translate_text_size(dk_text a, dk_text from, dk_text to, DK_PRIVATE dk_i32* error) {
  dk_i64 bytes = 0;
  for (dk_i32 at = 0; at < a.length;) {
    dk_i32 next = dk_next_char(a, at);
    bytes += dk_translate_char(a, at, next, from, to).length;
    at = next;
  }
  return dk_check_text_size(bytes, error);
}
DK_FN dk_i32 dk_translate_text_write(dk_text a, dk_text from, dk_text to, DK_GLOBAL char* out) {
  dk_i32 bytes = 0;
  for (dk_i32 at = 0; at < a.length;) {
    dk_i32 next = dk_next_char(a, at);
    bytes = dk_append(out, bytes, dk_translate_char(a, at, next, from, to));
    at = next;
  }
  return bytes;
}

// ---- filling up to a number of characters; without a fill text, only cutting

// Bytes of `count` characters of a text repeated without end.
DK_FN dk_i64 dk_fill_size(dk_text fill, dk_i64 count) {
  dk_i32 chars = dk_length_text(fill);
  if (count <= 0 || chars == 0) return 0;
  return count / chars * fill.length + dk_skip_chars(fill, 0, count % chars);
}
DK_FN dk_i32 dk_fill_write(dk_text fill, dk_i64 count, DK_GLOBAL char* out, dk_i32 at) {
  dk_i32 end = at + (dk_i32)dk_fill_size(fill, count);
  while (at < end) at = dk_append(out, at, dk_slice(fill, 0, fill.length < end - at ? fill.length : end - at));
  return at;
}

DK_FN dk_i32 dk_lpad_fill_text_size(dk_text a, dk_i32 count, dk_text fill, DK_PRIVATE dk_i32* error) {
  dk_i64 missing = (dk_i64)count - dk_length_text(a);
  if (missing <= 0) return dk_left_text(a, count < 0 ? 0 : count).length;
  return dk_check_text_size(a.length + dk_fill_size(fill, missing), error);
}
DK_FN dk_i32 dk_lpad_fill_text_write(dk_text a, dk_i32 count, dk_text fill, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_fill_write(fill, (dk_i64)count - dk_length_text(a), out, 0);
  return dk_append(out, bytes, dk_left_text(a, count < 0 ? 0 : count));
}
DK_FN dk_i32 dk_rpad_fill_text_size(dk_text a, dk_i32 count, dk_text fill, DK_PRIVATE dk_i32* error) {
  return dk_lpad_fill_text_size(a, count, fill, error);
}
DK_FN dk_i32 dk_rpad_fill_text_write(dk_text a, dk_i32 count, dk_text fill, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_append(out, 0, dk_left_text(a, count < 0 ? 0 : count));
  return dk_fill_write(fill, (dk_i64)count - dk_length_text(a), out, bytes);
}

DK_FN dk_i32 dk_lpad_text_size(dk_text a, dk_i32 count, DK_PRIVATE dk_i32* error) {
  dk_i64 missing = (dk_i64)count - dk_length_text(a);
  if (missing <= 0) return dk_left_text(a, count < 0 ? 0 : count).length;
  return dk_check_text_size(a.length + missing, error);
}
DK_FN dk_i32 dk_blanks_write(dk_i64 count, DK_GLOBAL char* out, dk_i32 at) {
  for (; count > 0; count--) out[at++] = ' ';
  return at;
}
DK_FN dk_i32 dk_lpad_text_write(dk_text a, dk_i32 count, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_blanks_write((dk_i64)count - dk_length_text(a), out, 0);
  return dk_append(out, bytes, dk_left_text(a, count < 0 ? 0 : count));
}
DK_FN dk_i32 dk_rpad_text_size(dk_text a, dk_i32 count, DK_PRIVATE dk_i32* error) {
  return dk_lpad_text_size(a, count, error);
}
DK_FN dk_i32 dk_rpad_text_write(dk_text a, dk_i32 count, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_append(out, 0, dk_left_text(a, count < 0 ? 0 : count));
  return dk_blanks_write((dk_i64)count - dk_length_text(a), out, bytes);
}

DK_FN dk_i32 dk_repeat_text_size(dk_text a, dk_i32 count, DK_PRIVATE dk_i32* error) {
  return count > 0 ? dk_check_text_size((dk_i64)a.length * count, error) : 0;
}
DK_FN dk_i32 dk_repeat_text_write(dk_text a, dk_i32 count, DK_GLOBAL char* out) {
  dk_i32 bytes = 0;
  for (; count > 0; count--) bytes = dk_append(out, bytes, a);
  return bytes;
}

DK_FN dk_i32 dk_reverse_text_size(dk_text a) { return a.length; }
DK_FN dk_i32 dk_reverse_text_write(dk_text a, DK_GLOBAL char* out) {
  dk_i32 bytes = 0;
  for (dk_i32 end = a.length; end > 0;) {
    dk_i32 from = dk_previous_char(a, end);
    bytes = dk_append(out, bytes, dk_slice(a, from, end));
    end = from;
  }
  return bytes;
}

// ---- characters and digits

// A number that is a character: not 0, not a surrogate, at most U+10FFFF.
DK_FN dk_i32 dk_chr_i32_size(dk_i32 a, DK_PRIVATE dk_i32* error) {
  dk_bool valid = a > 0 && a <= 0x10FFFF && !(a >= 0xD800 && a <= 0xDFFF);
  if (!valid) dk_raise(error, a < 0 ? DK_INVALID_PARAMETER : DK_LIMIT_EXCEEDED);
  return dk_char_size(a);
}
DK_FN dk_i32 dk_chr_i32_write(dk_i32 a, DK_GLOBAL char* out) { return dk_write_char(a, out); }

DK_FN dk_i32 dk_to_hex_i64_size(dk_i64 a) { return a == 0 ? 1 : (67 - DK_CLZ_U64((dk_u64)a)) / 4; }
DK_FN dk_i32 dk_to_hex_i64_write(dk_i64 a, DK_GLOBAL char* out) {
  dk_i32 bytes = dk_to_hex_i64_size(a);
  dk_u64 bits = (dk_u64)a;
  for (dk_i32 i = bytes - 1; i >= 0; i--) {
    dk_i32 digit = (dk_i32)(bits & 15);
    out[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    bits >>= 4;
  }
  return bytes;
}
DK_FN dk_i32 dk_to_hex_i32_size(dk_i32 a) { return dk_to_hex_i64_size((dk_i64)(dk_u32)a); }
DK_FN dk_i32 dk_to_hex_i32_write(dk_i32 a, DK_GLOBAL char* out) { return dk_to_hex_i64_write((dk_i64)(dk_u32)a, out); }
