// The pieces of a text that says a date, a timestamp or an interval, as PostgreSQL cuts it (src/backend/utils/adt/
// datetime.c, ParseDateTime): what a piece may be shows at its first characters, what it is only beside the others.
//
//   Jan-08-1999 04:05:06 PST -08   ->   Date "Jan-08-1999"  Time "04:05:06"  Word "PST"  Signed "-08"
#pragma once

enum dk_field_kind {
  DK_PIECE_END,
  DK_PIECE_NUMBER,  // 19990108   1999.008   .5
  DK_PIECE_DATE,    // 1999-01-08   8-Jan-1999   Jan-08-1999   America/New_York
  DK_PIECE_TIME,    // 04:05:06.789
  DK_PIECE_WORD,    // january, with a sign only in -infinity
  DK_PIECE_SIGNED,  // -08:00   +1.5   -1-2
  DK_PIECE_BAD
};

typedef struct dk_piece {
  dk_i32 kind;
  dk_bool negative;  // a minus before it, which is not part of text; blanks may stand between
  dk_bool has_sign;
  dk_text text;
  dk_i32 end;  // the byte after it
} dk_piece;

// No text has more pieces.
#define DK_MOST_PIECES 25

DK_FN dk_bool dk_is_alphanumeric(char c) { return dk_is_letter(c) || dk_is_digit(c); }

// Whether the character is a letter or digit, or one of two others.
DK_FN dk_bool dk_is_any_of(char c, char a, char b) { return c != 0 && (c == a || c == b); }

DK_FN dk_i32 dk_after_digits(dk_text a, dk_i32 at) {
  while (dk_is_digit(dk_char_at(a, at))) at++;
  return at;
}
DK_FN dk_i32 dk_after_letters(dk_text a, dk_i32 at) {
  while (dk_is_letter(dk_char_at(a, at))) at++;
  return at;
}

// A piece that begins with a digit.
DK_FN void dk_cut_number(dk_text a, dk_i32 at, DK_PRIVATE dk_piece* piece) {
  at = dk_after_digits(a, at);
  char c = dk_char_at(a, at);
  piece->kind = DK_PIECE_NUMBER;
  if (c == ':') {
    piece->kind = DK_PIECE_TIME;
    for (; dk_is_digit(c) || dk_is_any_of(c, ':', '.'); c = dk_char_at(a, at)) at++;
  } else if (c == '-' || c == '/' || c == '.') {
    char separator = c;
    at++;
    if (dk_is_digit(dk_char_at(a, at))) {
      piece->kind = separator == '.' ? DK_PIECE_NUMBER : DK_PIECE_DATE;
      at = dk_after_digits(a, at);
      if (dk_char_at(a, at) == separator) piece->kind = DK_PIECE_DATE;
      if (dk_char_at(a, at) == separator) {
        while (dk_is_digit(dk_char_at(a, at)) || dk_char_at(a, at) == separator) at++;
      }
    } else {
      piece->kind = DK_PIECE_DATE;
      while (dk_is_alphanumeric(dk_char_at(a, at)) || dk_char_at(a, at) == separator) at++;
    }
  }
  piece->end = at;
}

// A piece that begins with a letter: a word, or a date or zone with punctuation in it.
DK_FN void dk_cut_word(dk_text a, dk_i32 at, DK_PRIVATE dk_piece* piece) {
  dk_i32 from = at;
  at = dk_after_letters(a, at);
  char c = dk_char_at(a, at);
  dk_bool is_date = c == '-' || c == '/' || c == '.';
  if (c == '+' || dk_is_digit(c)) is_date = !dk_is_date_word(dk_slice(a, from, at));
  piece->kind = is_date ? DK_PIECE_DATE : DK_PIECE_WORD;
  while (is_date) {
    at++;
    c = dk_char_at(a, at);
    is_date =
        dk_is_alphanumeric(c) || dk_is_any_of(c, '+', '-') || dk_is_any_of(c, '/', '_') || dk_is_any_of(c, '.', ':');
  }
  piece->end = at;
}

// The first piece from `at` on. Blanks are read over, and so is punctuation that no piece begins with.
DK_FN dk_piece dk_next_piece(dk_text a, dk_i32 at) {
  dk_piece piece;
  piece.kind = DK_PIECE_END;
  piece.negative = 0;
  piece.has_sign = 0;
  char c = dk_char_at(a, at);
  while (at < a.length && !dk_is_alphanumeric(c) && c != '.' && c != '+' && c != '-') {
    if (!dk_is_space(c) && ((dk_u8)c <= ' ' || (dk_u8)c >= 127)) {
      piece.kind = DK_PIECE_BAD;
      break;
    }
    at++;
    c = dk_char_at(a, at);
  }
  piece.end = at;
  piece.text = dk_slice(a, at, at);
  if (at >= a.length || piece.kind == DK_PIECE_BAD) return piece;
  if (c == '+' || c == '-') {
    piece.has_sign = 1;
    piece.negative = c == '-';
    at++;
    while (dk_is_space(dk_char_at(a, at))) at++;
    c = dk_char_at(a, at);
    piece.end = at;
    piece.kind = dk_is_digit(c) ? DK_PIECE_SIGNED : dk_is_letter(c) ? DK_PIECE_WORD : DK_PIECE_BAD;
    if (piece.kind == DK_PIECE_WORD) piece.end = dk_after_letters(a, at);
    while (piece.kind == DK_PIECE_SIGNED && (dk_is_digit(c) || dk_is_any_of(c, ':', '.') || c == '-')) {
      piece.end++;
      c = dk_char_at(a, piece.end);
    }
  } else if (dk_is_digit(c)) {
    dk_cut_number(a, at, &piece);
  } else if (dk_is_letter(c)) {
    dk_cut_word(a, at, &piece);
  } else {
    piece.kind = DK_PIECE_NUMBER;
    piece.end = dk_after_digits(a, at + 1);
  }
  piece.text = dk_slice(a, at, piece.end);
  return piece;
}

// ---- numbers in a piece

// The digits from *at on as a number, which saturates beyond 32 bits; *at moves behind them.
DK_FN dk_i64 dk_read_number(dk_text a, DK_PRIVATE dk_i32* at) {
  dk_i64 value = 0;
  for (; dk_is_digit(dk_char_at(a, *at)); *at += 1) {
    value = value < DK_I64(10000000000) ? value * 10 + (dk_char_at(a, *at) - '0') : value;
  }
  return value;
}

// The number below 1 after the point at `at`, as far as digits go; *end is the byte after them.
DK_FN dk_f64 dk_read_decimals(dk_text a, dk_i32 at, DK_PRIVATE dk_i32* end) {
  dk_u64 value = 0;
  dk_i32 digits = 0;
  at++;
  for (; dk_is_digit(dk_char_at(a, at)); at++) {
    if (digits >= 18) continue;
    value = value * 10 + (dk_u64)(dk_char_at(a, at) - '0');
    digits++;
  }
  *end = at;
  return (dk_f64)value / (dk_f64)dk_powers_of_ten[digits];
}

typedef struct dk_clock {
  dk_i64 hour;
  dk_i64 minute;
  dk_i64 second;
  dk_i64 fraction;  // microseconds
} dk_clock;

DK_FN dk_i64 dk_time_of_clock(dk_clock c) {
  return c.hour * DK_USECS_PER_HOUR + c.minute * DK_USECS_PER_MINUTE + c.second * DK_USECS_PER_SECOND + c.fraction;
}

// hours:minutes[:seconds[.fraction]], or minutes:seconds.fraction; minutes:seconds, too, where the type says so. The
// hours are not bounded. Returns a dk_error.
DK_FN dk_i32 dk_read_clock(dk_text a, dk_bool minutes_first, DK_PRIVATE dk_clock* clock) {
  dk_i32 at = 0;
  dk_f64 fraction = 0;
  dk_bool shifted = minutes_first;
  clock->second = 0;
  clock->hour = dk_read_number(a, &at);
  if (dk_char_at(a, at) != ':') return DK_INVALID_DATETIME;
  at++;
  clock->minute = dk_read_number(a, &at);
  if (dk_char_at(a, at) == '.') {
    shifted = 1;
  } else if (at < a.length) {
    if (dk_char_at(a, at) != ':') return DK_INVALID_DATETIME;
    shifted = 0;
    at++;
    clock->second = dk_read_number(a, &at);
  }
  if (dk_char_at(a, at) == '.') fraction = dk_read_decimals(a, at, &at);
  if (at < a.length) return DK_INVALID_DATETIME;
  if (shifted) {
    clock->second = clock->minute;
    clock->minute = clock->hour;
    clock->hour = 0;
  }
  clock->fraction = (dk_i64)DK_MATH1_F64(rint, fraction * 1000000.0);
  return clock->minute > 59 || clock->second > 60 ? DK_DATETIME_OVERFLOW : DK_OK;
}
