// Upper and lower case: of ASCII letters everywhere, of other characters on the CPU (letter_case.cc). Each character
// becomes one other, as in PostgreSQL with the character type C.UTF-8. A kernel raises DK_CASE_BEYOND_ASCII where it
// meets such a character, and the CPU does the section.
#pragma once

DK_FN char dk_lower_char(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
DK_FN char dk_upper_char(char c) { return c >= 'a' && c <= 'z' ? (char)(c - 32) : c; }

DK_FN dk_bool dk_is_ascii_char(char c) { return (dk_u8)c < 0x80; }
DK_FN dk_bool dk_is_ascii(dk_text a) {
  dk_u8 bits = 0;
  for (dk_i32 i = 0; i < a.length; i++) bits |= (dk_u8)a.data[i];
  return bits < 0x80;
}

#if DK_HAS_UNICODE
// By Unicode number; one that is no character stays what it is.
dk_i32 dk_unicode_upper(dk_i32 code);
dk_i32 dk_unicode_lower(dk_i32 code);
// Whether a word goes on: a letter or a digit.
dk_bool dk_unicode_is_alnum(dk_i32 code);
#endif

// Whether an ASCII letter is the other character in lower case: among characters beyond ASCII, the Kelvin sign is a k
// and the capital i with a dot an i.
DK_FN dk_bool dk_is_lower_of(char ascii, dk_i32 code) {
  char lower = dk_lower_char(ascii);
  return (lower == 'k' && code == 0x212A) || (lower == 'i' && code == 0x130);
}

// Whether two texts, a character each, one of them beyond ASCII, differ in case at most.
DK_FN dk_bool dk_same_letter(dk_text a, dk_text b, DK_PRIVATE dk_i32* error) {
  if (dk_is_ascii_char(a.data[0])) return dk_is_lower_of(a.data[0], dk_ascii_text(b));
  if (dk_is_ascii_char(b.data[0])) return dk_is_lower_of(b.data[0], dk_ascii_text(a));
  if (dk_eq_text(a, b)) return 1;
#if DK_HAS_UNICODE
  return dk_unicode_lower(dk_ascii_text(a)) == dk_unicode_lower(dk_ascii_text(b));
#else
  dk_raise(error, DK_CASE_BEYOND_ASCII);
  return 0;
#endif
}
