// LIKE and ILIKE: % stands for any characters, _ for one, the escape character takes the next one literally.
//
// The pattern is walked along the text once. At a mismatch the search goes back to the last % and lets it take one more
// character; an earlier % never has to be tried again, since what follows it has matched at its leftmost place. Bytes
// stand for characters except under _ and %, and where case does not count.
#pragma once

// The bytes of the escape character, the first one lowest; length 0 is none.
typedef struct dk_escape {
  dk_u32 bytes;
  dk_i32 length;
} dk_escape;

DK_FN dk_escape dk_make_escape(dk_u32 bytes, dk_i32 length) {
  dk_escape r;
  r.bytes = bytes;
  r.length = length;
  return r;
}

DK_FN dk_escape dk_escape_of_text(dk_text a, DK_PRIVATE dk_i32* error) {
  dk_bool valid = a.length <= 4 && dk_next_char(a, 0) == a.length;
  if (!valid) dk_raise(error, DK_INVALID_ESCAPE);
  return dk_make_escape(valid ? (dk_u32)dk_load_part(a.data, a.length) : 0, valid ? a.length : 0);
}

DK_FN dk_bool dk_is_escape(dk_text pattern, dk_i32 at, dk_escape escape) {
  if (escape.length == 0 || (dk_u8)pattern.data[at] != (escape.bytes & 0xFF)) return 0;
  if (escape.length == 1) return 1;
  return pattern.length - at >= escape.length && dk_load_part(pattern.data + at, escape.length) == escape.bytes;
}

// What stands at one place of a pattern: a literal byte, and where the pattern goes on.
enum dk_pattern_kind { DK_PATTERN_END, DK_PATTERN_LITERAL, DK_PATTERN_ONE, DK_PATTERN_ANY };

typedef struct dk_pattern_item {
  dk_i32 kind;
  dk_i32 next;
  char literal;
} dk_pattern_item;

DK_FN dk_pattern_item dk_read_pattern(dk_text pattern, dk_i32 at, dk_escape escape, DK_PRIVATE dk_i32* error) {
  dk_pattern_item item;
  item.kind = DK_PATTERN_END;
  item.next = at;
  item.literal = 0;
  if (at >= pattern.length) return item;
  item.kind = DK_PATTERN_LITERAL;
  if (dk_is_escape(pattern, at, escape)) {
    at += escape.length;
    if (at >= pattern.length) {
      dk_raise(error, DK_INVALID_ESCAPE_SEQUENCE);
      item.kind = DK_PATTERN_END;
      return item;
    }
  } else if (pattern.data[at] == '%') {
    item.kind = DK_PATTERN_ANY;
  } else if (pattern.data[at] == '_') {
    item.kind = DK_PATTERN_ONE;
  }
  item.literal = pattern.data[at];
  item.next = at + 1;
  return item;
}

// The next place from `at` on at which a text could go on matching `item`, the one after a %; -1 for none.
DK_FN dk_i32 dk_next_candidate(dk_text a, dk_i32 at, dk_pattern_item item, dk_bool fold) {
  if (item.kind != DK_PATTERN_LITERAL || fold) return at;
  return dk_find_byte(a, at, item.literal);
}

// Whether only % are left from `at` on: what the end of a text matches.
DK_FN dk_bool dk_matches_nothing(dk_text pattern, dk_i32 at, dk_escape escape) {
  while (at < pattern.length && pattern.data[at] == '%' && !dk_is_escape(pattern, at, escape)) at++;
  return at >= pattern.length;
}

// Always inline, so that LIKE has a loop without the branches of ILIKE.
DK_FN DK_ALWAYS_INLINE dk_bool dk_match(dk_text a, dk_text pattern, dk_escape escape, dk_bool fold,
                                        DK_PRIVATE dk_i32* error) {
  dk_i32 at = 0;
  dk_i32 place = 0;
  dk_i32 resume_place = -1;  // in the pattern, after the last %
  dk_i32 resume_at = 0;      // in the text, where it is tried next
  dk_pattern_item after;     // the item at resume_place
  after.kind = DK_PATTERN_END;
  for (;;) {
    if (at >= a.length) return dk_matches_nothing(pattern, place, escape);
    dk_pattern_item item = dk_read_pattern(pattern, place, escape, error);
    if (item.kind == DK_PATTERN_ANY) {
      while (item.kind == DK_PATTERN_ANY) {
        resume_place = item.next;
        item = dk_read_pattern(pattern, item.next, escape, error);
      }
      if (item.kind == DK_PATTERN_END) return 1;
      after = item;
      resume_at = dk_next_candidate(a, at, after, fold);
      if (resume_at < 0) return 0;
      at = resume_at;
      place = resume_place;
    }
    if (at >= a.length) return 0;
    dk_bool same = 0;
    if (item.kind == DK_PATTERN_ONE) {
      at = dk_next_char(a, at);
      same = 1;
    } else if (item.kind == DK_PATTERN_LITERAL) {
      if (fold && !(dk_is_ascii_char(a.data[at]) && dk_is_ascii_char(item.literal))) {
        dk_text letter = dk_slice(a, at, dk_next_char(a, at));
        dk_text wanted = dk_slice(pattern, item.next - 1, dk_next_char(pattern, item.next - 1));
        same = dk_same_letter(letter, wanted, error);
        at += same ? letter.length : 0;
        item.next += wanted.length - 1;
      } else {
        same = a.data[at] == item.literal || (fold && dk_lower_char(a.data[at]) == dk_lower_char(item.literal));
        at += same;
      }
    }
    if (same) {
      place = item.next;
      continue;
    }
    if (resume_place < 0) return 0;
    resume_at = dk_next_candidate(a, dk_next_char(a, resume_at), after, fold);
    if (resume_at < 0 || resume_at >= a.length) return 0;
    at = resume_at;
    place = resume_place;
  }
}

DK_FN dk_bool dk_like_text(dk_text a, dk_text pattern, DK_PRIVATE dk_i32* error) {
  return dk_match(a, pattern, dk_make_escape('\\', 1), 0, error);
}
DK_FN dk_bool dk_like_escape_text(dk_text a, dk_text pattern, dk_text escape, DK_PRIVATE dk_i32* error) {
  return dk_match(a, pattern, dk_escape_of_text(escape, error), 0, error);
}
DK_FN dk_bool dk_ilike_text(dk_text a, dk_text pattern, DK_PRIVATE dk_i32* error) {
  return dk_match(a, pattern, dk_make_escape('\\', 1), 1, error);
}
DK_FN dk_bool dk_ilike_escape_text(dk_text a, dk_text pattern, dk_text escape, DK_PRIVATE dk_i32* error) {
  return dk_match(a, pattern, dk_escape_of_text(escape, error), 1, error);
}
