// Casts from text to date and timestamp: what PostgreSQL's input functions accept with DateStyle ISO, MDY, decoded as
// they do (datetime.c, DecodeDateTime):
//
//   2024-02-29   2024/2/29   20240229   240229   02/29/2024   29-Feb-2024   Feb-29-2024   Feb 29, 2024   02 29 2024
//   2024.060   2024-060 (day of the year)   J2460370
//   each with  12:34  12:34:56.789  123456 after a T  01:00 PM  24:00:00  a zone (ignored)  a weekday (ignored)  AD  BC
//   epoch   infinity   -infinity   y2024m02d29
//
// Not accepted: now, today and the like (they are no constants), and names of zones except UTC, GMT, Z.
// A text that is no date raises DK_INVALID_DATETIME, one with a field out of range DK_DATETIME_OVERFLOW.
#pragma once

// Which fields have been read: a bit each.
#define DK_HAS_SPECIAL 1
#define DK_HAS_MONTH 2
#define DK_HAS_YEAR 4
#define DK_HAS_DAY 8
#define DK_HAS_DATE 14
#define DK_HAS_ZONE 16
#define DK_HAS_WEEKDAY 32
#define DK_HAS_MERIDIEM 64
#define DK_HAS_ERA 128
#define DK_HAS_DAY_OF_YEAR 256
#define DK_HAS_HOUR 1024
#define DK_HAS_MINUTE 2048
#define DK_HAS_SECOND 4096
#define DK_HAS_TIME 7168

typedef struct dk_date_parser {
  dk_i32 failed;  // a dk_error
  dk_i32 has;     // fields read before this piece
  dk_i32 adds;    // those of this piece
  dk_i32 label;   // the word before a number that says what it is: a dk_date_word, or DK_WORD_NONE
  dk_bool month_is_word;
  dk_bool short_year;  // of one or two digits
  dk_bool bc;
  dk_bool is_julian;
  dk_i32 meridiem;  // DK_WORD_AM, DK_WORD_PM or DK_WORD_NONE
  dk_i32 special;   // DK_WORD_EPOCH, an infinity, or DK_WORD_NONE
  dk_i64 year;
  dk_i64 month;
  dk_i64 day;
  dk_i64 day_of_year;
  dk_clock clock;
} dk_date_parser;

DK_FN void dk_fail(DK_PRIVATE dk_date_parser* p, dk_i32 code) {
  if (p->failed == 0) p->failed = code;
}

// The digits [from, to) as a number.
DK_FN dk_i64 dk_digits_of(dk_text a, dk_i32 from, dk_i32 to) {
  dk_i32 at = 0;
  return dk_read_number(dk_slice(a, from, to), &at);
}

// A whole date or time without separators: [yy]yymmdd, hhmmss, hhmm, the last two with a fraction.
DK_FN void dk_take_run(DK_PRIVATE dk_date_parser* p, dk_text a, dk_i32 has) {
  dk_i32 digits = dk_after_digits(a, 0);
  dk_i32 end = a.length;
  if (digits < a.length) {
    p->clock.fraction = (dk_i64)DK_MATH1_F64(rint, dk_read_decimals(a, digits, &end) * 1000000.0);
  } else if ((has & DK_HAS_DATE) != DK_HAS_DATE && digits >= 6) {
    p->adds = DK_HAS_DATE;
    p->year = dk_digits_of(a, 0, digits - 4);
    p->month = dk_digits_of(a, digits - 4, digits - 2);
    p->day = dk_digits_of(a, digits - 2, digits);
    p->short_year = digits == 6;
    return;
  }
  if ((has & DK_HAS_TIME) == DK_HAS_TIME || (digits != 6 && digits != 4)) {
    dk_fail(p, DK_INVALID_DATETIME);
    return;
  }
  p->adds = DK_HAS_TIME;
  p->clock.hour = dk_digits_of(a, 0, 2);
  p->clock.minute = dk_digits_of(a, 2, 4);
  p->clock.second = digits == 6 ? dk_digits_of(a, 4, 6) : 0;
}

DK_FN void dk_take_year(DK_PRIVATE dk_date_parser* p, dk_i64 value, dk_i32 digits) {
  p->adds = DK_HAS_YEAR;
  p->year = value;
  p->short_year = digits <= 2;
}
DK_FN void dk_take_month(DK_PRIVATE dk_date_parser* p, dk_i64 value) {
  p->adds = DK_HAS_MONTH;
  p->month = value;
}
DK_FN void dk_take_day(DK_PRIVATE dk_date_parser* p, dk_i64 value) {
  p->adds = DK_HAS_DAY;
  p->day = value;
}

// A number that stands alone or between separators: what it is follows from how long it is and from what is there.
DK_FN void dk_take_number(DK_PRIVATE dk_date_parser* p, dk_text a, dk_i32 has) {
  dk_i32 digits = 0;
  dk_i64 value = dk_read_number(a, &digits);
  if (value > 2147483647) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (digits == 0) dk_fail(p, DK_INVALID_DATETIME);
  if (digits < a.length && digits > 2) {
    dk_take_run(p, a, has | DK_HAS_DATE);
    return;
  }
  if (digits < a.length)
    p->clock.fraction = (dk_i64)DK_MATH1_F64(rint, dk_read_decimals(a, digits, &digits) * 1000000.0);
  dk_i32 length = a.length;
  has &= DK_HAS_DATE;
  if (length == 3 && has == DK_HAS_YEAR && value >= 1 && value <= 366) {
    p->adds = DK_HAS_DAY_OF_YEAR | DK_HAS_MONTH | DK_HAS_DAY;
    p->day_of_year = value;
  } else if (has == 0) {
    if (length >= 3) {
      dk_take_year(p, value, length);
    } else {
      dk_take_month(p, value);
    }
  } else if (has == DK_HAS_YEAR || has == DK_HAS_DAY) {
    dk_take_month(p, value);
  } else if (has == DK_HAS_MONTH) {
    if (p->month_is_word && length >= 3) {
      dk_take_year(p, value, length);
    } else {
      dk_take_day(p, value);
    }
  } else if (has == (DK_HAS_YEAR | DK_HAS_MONTH)) {
    if (p->month_is_word && length >= 3 && p->short_year) {
      p->day = p->year;
      dk_take_year(p, value, length);
      p->adds = DK_HAS_DAY;
    } else {
      dk_take_day(p, value);
    }
  } else if (has == (DK_HAS_MONTH | DK_HAS_DAY)) {
    dk_take_year(p, value, length);
  } else {
    dk_take_run(p, a, has);
  }
}

// ---- pieces

// The part of a date between separators that begins at `at` or after; its end, 0 where a separator ends the text.
DK_FN dk_text dk_date_part(dk_text a, DK_PRIVATE dk_i32* at) {
  while (*at < a.length && !dk_is_alphanumeric(a.data[*at])) *at += 1;
  dk_i32 from = *at;
  *at = dk_is_digit(dk_char_at(a, from)) ? dk_after_digits(a, from) : dk_after_letters(a, from);
  return dk_slice(a, from, *at);
}

// A date with separators: first the month's name, if there is one, then the numbers in their order.
DK_FN void dk_take_separated(DK_PRIVATE dk_date_parser* p, dk_text a) {
  dk_i32 before = p->has;
  dk_i32 has = before;
  for (dk_i32 pass = 0; pass < 2 && p->failed == 0; pass++) {
    for (dk_i32 at = 0; at < a.length && p->failed == 0;) {
      dk_text part = dk_date_part(a, &at);
      at += at < a.length;  // the separator
      dk_bool is_word = part.length > 0 && dk_is_letter(part.data[0]);
      p->adds = 0;
      if (part.length == 0) {
        dk_fail(p, DK_INVALID_DATETIME);
      } else if (is_word && pass == 0) {
        dk_i32 month = dk_find_word(part, dk_month_words, DK_MONTH_WORDS);
        dk_i32 word = dk_find_word(part, dk_date_words, DK_DATE_WORDS);
        if (month < 0 && word != DK_WORD_IGNORED) dk_fail(p, DK_INVALID_DATETIME);
        if (month > 0) dk_take_month(p, month);
        if (month > 0) p->month_is_word = 1;
      } else if (!is_word && pass == 1) {
        dk_take_number(p, part, has);
      }
      if (p->adds & has) dk_fail(p, DK_INVALID_DATETIME);
      has |= p->adds;
    }
  }
  p->adds = has & ~before;
  if ((has & ~(DK_HAS_DAY_OF_YEAR | DK_HAS_ZONE)) != DK_HAS_DATE) dk_fail(p, DK_INVALID_DATETIME);
}

// A zone as a difference: +hh, +hhmm, +hh:mm[:ss]. A timestamp has none, so it is only checked.
DK_FN void dk_take_zone(DK_PRIVATE dk_date_parser* p, dk_text a) {
  dk_i32 at = 0;
  dk_i64 minute = 0;
  dk_i64 second = 0;
  dk_i64 hour = dk_read_number(a, &at);
  if (dk_char_at(a, at) == ':') {
    at++;
    minute = dk_read_number(a, &at);
    if (dk_char_at(a, at) == ':') {
      at++;
      second = dk_read_number(a, &at);
    }
  } else if (at == a.length && a.length > 2) {
    minute = hour % 100;
    hour /= 100;
  }
  if (hour > 15 || minute > 59 || second > 59) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (at < a.length) dk_fail(p, DK_INVALID_DATETIME);
  p->adds |= DK_HAS_ZONE;
}

// hhmmss-zz, where there is a date already; a zone's name else.
DK_FN void dk_take_time_and_zone(DK_PRIVATE dk_date_parser* p, dk_text a) {
  dk_i32 zone = dk_find_byte(a, 0, '-');
  if (p->label != DK_WORD_NONE && p->label != DK_WORD_T) dk_fail(p, DK_INVALID_DATETIME);
  if (!dk_is_digit(a.data[0]) || (p->has & DK_HAS_TIME) == DK_HAS_TIME || zone < 0) dk_fail(p, DK_INVALID_DATETIME);
  p->label = DK_WORD_NONE;
  if (p->failed) return;
  dk_take_run(p, dk_slice(a, 0, zone), p->has);
  dk_take_zone(p, dk_slice(a, zone + 1, a.length));
}

DK_FN void dk_take_julian(DK_PRIVATE dk_date_parser* p, dk_text a, dk_i64 value, dk_i32 digits) {
  dk_civil c = dk_civil_of_days(value - DK_JULIAN_DAY_OF_2000);
  p->year = c.year;
  p->month = c.month;
  p->day = c.day;
  p->is_julian = 1;
  p->adds = DK_HAS_DATE;
  if (digits == a.length) return;
  dk_f64 time = dk_read_decimals(a, digits, &digits) * (dk_f64)DK_USECS_PER_DAY;
  p->clock.hour = 0;
  p->clock.minute = 0;
  p->clock.second = 0;
  p->clock.fraction = (dk_i64)time;
  p->adds |= DK_HAS_TIME;
}

// A number that the word before it says the field of.
DK_FN void dk_take_labelled(DK_PRIVATE dk_date_parser* p, dk_text a) {
  dk_i32 digits = 0;
  dk_i64 value = dk_read_number(a, &digits);
  dk_i32 label = p->label;
  p->label = DK_WORD_NONE;
  dk_bool may_have_fraction = label == DK_WORD_JULIAN || label == DK_WORD_T || label == DK_WORD_SECOND;
  if (value > 2147483647) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (digits < a.length && !may_have_fraction) dk_fail(p, DK_INVALID_DATETIME);
  if (label == DK_WORD_JULIAN) {
    dk_take_julian(p, a, value, digits);
  } else if (label == DK_WORD_T) {
    dk_take_run(p, a, p->has | DK_HAS_DATE);
    if (p->adds != DK_HAS_TIME) dk_fail(p, DK_INVALID_DATETIME);
  } else if (label == DK_WORD_YEAR) {
    p->year = value;
    p->adds = DK_HAS_YEAR;
  } else if (label == DK_WORD_DAY) {
    dk_take_day(p, value);
  } else if (label == DK_WORD_HOUR) {
    p->clock.hour = value;
    p->adds = DK_HAS_HOUR;
  } else if (label == DK_WORD_MINUTE || (label == DK_WORD_MONTH && (p->has & DK_HAS_MONTH) && (p->has & DK_HAS_HOUR))) {
    p->clock.minute = value;
    p->adds = DK_HAS_MINUTE;
  } else if (label == DK_WORD_MONTH) {
    dk_take_month(p, value);
  } else if (label == DK_WORD_SECOND) {
    p->clock.second = value;
    p->adds = DK_HAS_SECOND;
    if (digits < a.length)
      p->clock.fraction = (dk_i64)DK_MATH1_F64(rint, dk_read_decimals(a, digits, &digits) * 1000000.0);
  } else {
    dk_fail(p, DK_INVALID_DATETIME);
  }
}

DK_FN void dk_take_plain(DK_PRIVATE dk_date_parser* p, dk_text a) {
  dk_i32 digits = dk_after_digits(a, 0);
  dk_bool no_date = (p->has & DK_HAS_DATE) == 0;
  if (digits < a.length && no_date) {
    dk_take_separated(p, a);
  } else if ((digits < a.length && digits > 2) || (a.length >= 6 && (no_date || (p->has & DK_HAS_TIME) == 0))) {
    dk_take_run(p, a, p->has);
  } else {
    dk_take_number(p, a, p->has);
  }
}

DK_FN void dk_take_month_word(DK_PRIVATE dk_date_parser* p, dk_i32 month) {
  dk_bool was_day = (p->has & DK_HAS_MONTH) != 0 && !p->month_is_word && (p->has & DK_HAS_DAY) == 0 && p->month >= 1 &&
                    p->month <= 31;
  if (was_day) p->day = p->month;
  p->adds = was_day ? DK_HAS_DAY : DK_HAS_MONTH;
  p->month_is_word = 1;
  p->month = month;
}

DK_FN void dk_take_word(DK_PRIVATE dk_date_parser* p, dk_piece piece, dk_i32 next_kind) {
  dk_i32 month = dk_find_word(piece.text, dk_month_words, DK_MONTH_WORDS);
  dk_i32 word = dk_find_word(piece.text, dk_date_words, DK_DATE_WORDS);
  if (piece.has_sign && !(piece.negative && word == DK_WORD_INFINITY)) {
    dk_fail(p, DK_INVALID_DATETIME);
  } else if (month > 0) {
    dk_take_month_word(p, month);
  } else if (word == DK_WORD_WEEKDAY) {
    p->adds = DK_HAS_WEEKDAY;
  } else if (word == DK_WORD_AM || word == DK_WORD_PM) {
    p->adds = DK_HAS_MERIDIEM;
    p->meridiem = word;
  } else if (word == DK_WORD_BC || word == DK_WORD_AD) {
    p->adds = DK_HAS_ERA;
    p->bc = word == DK_WORD_BC;
  } else if (word == DK_WORD_ZONE) {
    p->adds = DK_HAS_ZONE;
  } else if (word == DK_WORD_EPOCH || word == DK_WORD_INFINITY) {
    p->adds = DK_HAS_SPECIAL;
    p->special = piece.negative ? DK_WORD_MINUS_INFINITY : word;
  } else if (word == DK_WORD_ALLBALLS) {
    p->adds = DK_HAS_TIME | DK_HAS_ZONE;
  } else if (word >= DK_WORD_T) {
    p->label = word;
    dk_bool has_time_next = next_kind == DK_PIECE_NUMBER || next_kind == DK_PIECE_TIME || next_kind == DK_PIECE_DATE;
    if (word == DK_WORD_T && ((p->has & DK_HAS_DATE) != DK_HAS_DATE || !has_time_next)) dk_fail(p, DK_INVALID_DATETIME);
  } else if (word != DK_WORD_IGNORED) {
    dk_fail(p, DK_INVALID_DATETIME);
  }
}

DK_FN void dk_take_piece(DK_PRIVATE dk_date_parser* p, dk_piece piece, dk_i32 next_kind) {
  p->adds = 0;
  if (piece.kind == DK_PIECE_TIME) {
    if (p->label != DK_WORD_NONE && p->label != DK_WORD_T) dk_fail(p, DK_INVALID_DATETIME);
    p->label = DK_WORD_NONE;
    p->adds = DK_HAS_TIME;
    dk_i32 error = dk_read_clock(piece.text, 0, &p->clock);
    if (error == DK_OK && (p->clock.hour > 24 || dk_time_of_clock(p->clock) > DK_USECS_PER_DAY))
      error = DK_DATETIME_OVERFLOW;
    if (error != DK_OK) dk_fail(p, error);
  } else if (piece.kind == DK_PIECE_DATE) {
    dk_bool has_month_and_day = (p->has & (DK_HAS_MONTH | DK_HAS_DAY)) == (DK_HAS_MONTH | DK_HAS_DAY);
    if (p->label != DK_WORD_NONE || has_month_and_day) {
      dk_take_time_and_zone(p, piece.text);
    } else {
      dk_take_separated(p, piece.text);
    }
  } else if (piece.kind == DK_PIECE_SIGNED) {
    dk_take_zone(p, piece.text);
  } else if (piece.kind == DK_PIECE_WORD) {
    dk_take_word(p, piece, next_kind);
  } else if (piece.kind == DK_PIECE_BAD) {
    dk_fail(p, DK_INVALID_DATETIME);
  } else if (p->label != DK_WORD_NONE) {
    dk_take_labelled(p, piece.text);
  } else {
    dk_take_plain(p, piece.text);
  }
  if (p->adds & p->has) dk_fail(p, DK_INVALID_DATETIME);
  p->has |= p->adds;
}

// ---- the whole

DK_FN void dk_apply_meridiem(DK_PRIVATE dk_date_parser* p) {
  if (p->meridiem == DK_WORD_NONE) return;
  if (p->clock.hour > 12) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (p->meridiem == DK_WORD_AM && p->clock.hour == 12) p->clock.hour = 0;
  if (p->meridiem == DK_WORD_PM && p->clock.hour < 12) p->clock.hour += 12;
}

// The year counted astronomically; a year of one or two digits is one of 1970 to 2069.
DK_FN void dk_settle_year(DK_PRIVATE dk_date_parser* p) {
  if ((p->has & DK_HAS_YEAR) == 0 || p->is_julian) return;
  if (p->year <= 0 && (p->bc || !p->short_year)) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (p->bc) {
    p->year = 1 - p->year;
  } else if (p->short_year) {
    p->year += p->year < 70 ? 2000 : 1900;
  }
}

// The day that the fields say.
DK_FN dk_i64 dk_settle_day(DK_PRIVATE dk_date_parser* p) {
  if (p->has & DK_HAS_DAY_OF_YEAR) {
    dk_civil c = dk_civil_of_days(dk_days_of_civil(p->year, 1, 1) + p->day_of_year - 1);
    p->year = c.year;
    p->month = c.month;
    p->day = c.day;
  }
  if ((p->has & DK_HAS_MONTH) && (p->month < 1 || p->month > 12)) dk_fail(p, DK_DATETIME_OVERFLOW);
  if ((p->has & DK_HAS_DAY) && (p->day < 1 || p->day > 31)) dk_fail(p, DK_DATETIME_OVERFLOW);
  if ((p->has & DK_HAS_DATE) != DK_HAS_DATE || p->failed) return 0;
  if (p->day > dk_days_in_month(p->year, (dk_i32)p->month)) dk_fail(p, DK_DATETIME_OVERFLOW);
  return dk_days_of_civil(p->year, (dk_i32)p->month, (dk_i32)p->day);
}

// Reads a text; afterwards special, or the day and the clock, hold what it says, or failed says why not. Returns the
// day.
DK_FN dk_i64 dk_parse_date(DK_PRIVATE dk_date_parser* p, dk_text a) {
  p->failed = 0;
  p->has = 0;
  p->label = DK_WORD_NONE;
  p->month_is_word = 0;
  p->short_year = 0;
  p->bc = 0;
  p->is_julian = 0;
  p->meridiem = DK_WORD_NONE;
  p->special = DK_WORD_NONE;
  p->year = 0;
  p->month = 0;
  p->day = 0;
  p->day_of_year = 0;
  p->clock.hour = 0;
  p->clock.minute = 0;
  p->clock.second = 0;
  p->clock.fraction = 0;
  dk_piece piece = dk_next_piece(a, 0);
  for (dk_i32 count = 0; piece.kind != DK_PIECE_END && p->failed == 0; count++) {
    dk_piece next = dk_next_piece(a, piece.end);
    dk_take_piece(p, piece, next.kind);
    if (count >= DK_MOST_PIECES || piece.kind == DK_PIECE_BAD) dk_fail(p, DK_INVALID_DATETIME);
    piece = next;
  }
  if (p->failed) return 0;
  dk_settle_year(p);
  dk_i64 day = dk_settle_day(p);
  dk_apply_meridiem(p);
  if (dk_time_of_clock(p->clock) > 8 * DK_USECS_PER_DAY) dk_fail(p, DK_DATETIME_OVERFLOW);  // y2024m1d1h99 is fewer
  if (p->special == DK_WORD_NONE && (p->has & DK_HAS_DATE) != DK_HAS_DATE) dk_fail(p, DK_INVALID_DATETIME);
  if (p->special == DK_WORD_NONE) return day;
  p->clock.hour = 0;
  p->clock.minute = 0;
  p->clock.second = 0;
  p->clock.fraction = 0;
  return -DK_DAYS_1970_TO_2000;
}

// A time in the text is read over.
DK_FN dk_i32 dk_cast_text_date(dk_text a, DK_PRIVATE dk_i32* error) {
  dk_date_parser p;
  dk_i64 day = dk_parse_date(&p, a);
  if (p.failed) {
    dk_raise(error, p.failed);
    return 0;
  }
  if (p.special == DK_WORD_INFINITY) return DK_DATE_INFINITY;
  if (p.special == DK_WORD_MINUS_INFINITY) return DK_DATE_MINUS_INFINITY;
  return dk_check_date(day, error);
}

DK_FN dk_i64 dk_cast_text_timestamp(dk_text a, DK_PRIVATE dk_i32* error) {
  dk_date_parser p;
  dk_i64 day = dk_parse_date(&p, a);
  if (p.failed) {
    dk_raise(error, p.failed);
    return 0;
  }
  if (p.special == DK_WORD_INFINITY) return DK_TIMESTAMP_INFINITY;
  if (p.special == DK_WORD_MINUS_INFINITY) return DK_TIMESTAMP_MINUS_INFINITY;
  return dk_make_timestamp_of(day, dk_time_of_clock(p.clock), error);
}
