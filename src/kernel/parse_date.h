// Casts from text to date and timestamp, accepting most of what PostgreSQL's input functions accept with DateStyle ISO,
// MDY:
//
//   2024-02-29   2024/2/29   20240229   240229   02/29/2024   29-Feb-2024   Feb 29, 2024   29 February 2024   02 29
//   2024   J2460370 each with  12:34  12:34:56.789  123456 after a T  01:00 PM  24:00:00  a zone (ignored)  a weekday
//   (ignored)  AD  BC epoch   infinity   -infinity
//
// Not accepted: now, today and the like (they are no constants), day-of-year forms, names of zones except UTC, GMT, Z.
// A text that is no date raises DK_INVALID_DATETIME, one with a field out of range DK_DATETIME_OVERFLOW.
#pragma once

// What has been read so far. Numbers that stand alone wait in `parts` until it is clear what they are.
typedef struct dk_date_parser {
  dk_text text;
  dk_i32 at;
  dk_i32 failed;  // a dk_error
  dk_i32 parts[3];
  dk_i32 digits[3];  // how many digits each part has
  dk_i32 part_count;
  dk_i32 month;  // from a word; 0 for none
  dk_bool has_date;
  dk_bool has_time;
  dk_bool has_zone;
  dk_bool after_t;
  dk_bool bc;
  dk_i32 meridiem;  // DK_WORD_AM, DK_WORD_PM or DK_WORD_NONE
  dk_i32 special;   // DK_WORD_EPOCH, an infinity, or DK_WORD_NONE
  dk_i64 year;
  dk_i32 month_number;
  dk_i32 day;
  dk_i64 time;  // microseconds of the day
  dk_i64 julian;
  dk_bool has_julian;
} dk_date_parser;

DK_FN char dk_peek(const DK_PRIVATE dk_date_parser* p, dk_i32 ahead) { return dk_char_at(p->text, p->at + ahead); }

DK_FN void dk_fail(DK_PRIVATE dk_date_parser* p, dk_i32 code) {
  if (p->failed == 0) p->failed = code;
}

// Digits from here on as a number, which saturates.
DK_FN dk_i32 dk_read_any_digits(DK_PRIVATE dk_date_parser* p, DK_PRIVATE dk_i32* digits) {
  dk_i32 value = 0;
  *digits = 0;
  for (; dk_is_digit(dk_peek(p, 0)); p->at++) {
    value = value < 100000000 ? value * 10 + (dk_peek(p, 0) - '0') : 1000000000;
    *digits += 1;
  }
  return value;
}

// The same, where a digit has to be there.
DK_FN dk_i32 dk_read_digits(DK_PRIVATE dk_date_parser* p, DK_PRIVATE dk_i32* digits) {
  dk_i32 value = dk_read_any_digits(p, digits);
  if (*digits == 0) dk_fail(p, DK_INVALID_DATETIME);
  return value;
}

DK_FN dk_text dk_read_letters(DK_PRIVATE dk_date_parser* p) {
  dk_i32 from = p->at;
  while (dk_is_letter(dk_peek(p, 0))) p->at++;
  return dk_slice(p->text, from, p->at);
}

// The fraction of a second after its point, rounded to microseconds.
DK_FN dk_i64 dk_read_fraction(DK_PRIVATE dk_date_parser* p) {
  dk_i64 value = 0;
  dk_i32 digits = 0;
  dk_bool up = 0;
  for (; dk_is_digit(dk_peek(p, 0)); p->at++) {
    if (digits < 6) value = value * 10 + (dk_peek(p, 0) - '0');
    if (digits == 6) up = dk_peek(p, 0) >= '5';
    digits++;
  }
  for (; digits < 6; digits++) value *= 10;
  return value + up;
}

// ---- parts of a date

// A year of one or two digits is one of 1970 to 2069.
DK_FN dk_i64 dk_full_year(dk_i32 year, dk_i32 digits) {
  if (digits > 2) return year;
  return year < 70 ? year + 2000 : year + 1900;
}

DK_FN void dk_set_date(DK_PRIVATE dk_date_parser* p, dk_i32 year, dk_i32 year_digits, dk_i32 month, dk_i32 day) {
  if (p->has_date) dk_fail(p, DK_INVALID_DATETIME);
  p->has_date = 1;
  p->year = p->bc ? year : dk_full_year(year, year_digits);
  p->month_number = month;
  p->day = day;
}

// The two parts after a first number and a separator: year first if it has more than two digits, else month first; the
// middle one can be a month's name.
DK_FN void dk_read_separated_date(DK_PRIVATE dk_date_parser* p, dk_i32 first, dk_i32 first_digits) {
  char separator = dk_peek(p, 0);
  dk_i32 digits;
  dk_i32 last_digits;
  dk_i32 second;
  p->at++;
  dk_bool named = dk_is_letter(dk_peek(p, 0));
  if (named) {
    second = dk_find_word(dk_read_letters(p), dk_month_words, DK_MONTH_WORDS);
    if (second < 0) dk_fail(p, DK_INVALID_DATETIME);
  } else {
    second = dk_read_any_digits(p, &digits);
  }
  if (dk_peek(p, 0) != separator) {
    dk_fail(p, DK_INVALID_DATETIME);
    return;
  }
  p->at++;
  dk_i32 third = dk_read_digits(p, &last_digits);
  if (first_digits > 2) {
    dk_set_date(p, first, first_digits, second, third);
  } else if (named) {
    dk_set_date(p, third, last_digits, second, first);
  } else {
    dk_set_date(p, third, last_digits, first, second);
  }
}

// ---- time of day

DK_FN dk_i64 dk_time_of_parts(DK_PRIVATE dk_date_parser* p, dk_i32 hour, dk_i32 minute, dk_i32 second,
                              dk_i64 fraction) {
  if (p->has_time) dk_fail(p, DK_INVALID_DATETIME);
  p->has_time = 1;
  if (hour > 24 || minute > 59 || second > 60) {
    dk_fail(p, DK_DATETIME_OVERFLOW);
    return 0;
  }
  dk_i64 time = hour * DK_USECS_PER_HOUR + minute * DK_USECS_PER_MINUTE + second * DK_USECS_PER_SECOND + fraction;
  if (time > DK_USECS_PER_DAY && hour == 24) dk_fail(p, DK_DATETIME_OVERFLOW);
  return time;
}

// The minutes and seconds after an hour that a colon follows; either may be left out after its colon.
DK_FN void dk_read_time(DK_PRIVATE dk_date_parser* p, dk_i32 hour) {
  dk_i32 digits;
  dk_i32 second = 0;
  dk_i64 fraction = 0;
  p->at++;
  dk_i32 minute = dk_read_any_digits(p, &digits);
  if (dk_peek(p, 0) == ':') {
    p->at++;
    second = dk_read_any_digits(p, &digits);
    if (dk_peek(p, 0) == '.') {
      p->at++;
      fraction = dk_read_fraction(p);
    }
  }
  p->time = dk_time_of_parts(p, hour, minute, second, fraction);
}

// A zone as a difference: +hh, +hhmm, +hh:mm[:ss]. A timestamp has none, so it is read over.
DK_FN void dk_skip_zone(DK_PRIVATE dk_date_parser* p) {
  dk_i32 digits;
  if (p->has_zone) dk_fail(p, DK_INVALID_DATETIME);
  p->has_zone = 1;
  p->at++;
  dk_read_digits(p, &digits);
  while (dk_peek(p, 0) == ':') {
    p->at++;
    dk_read_digits(p, &digits);
  }
}

// ---- tokens

// Digits without a separator: a whole date or time, or a part that waits.
DK_FN void dk_take_number(DK_PRIVATE dk_date_parser* p, dk_i32 value, dk_i32 digits) {
  if (p->has_date || p->after_t) {
    if (digits != 6 && digits != 4) dk_fail(p, DK_INVALID_DATETIME);
    if (digits == 4) value *= 100;
    dk_i64 fraction = 0;
    if (dk_peek(p, 0) == '.') {
      p->at++;
      fraction = dk_read_fraction(p);
    }
    p->time = dk_time_of_parts(p, value / 10000, value / 100 % 100, value % 100, fraction);
  } else if (digits == 8 || (digits >= 6 && p->month == 0)) {
    dk_set_date(p, value / 10000, digits - 4, value / 100 % 100, value % 100);
  } else if (p->part_count < 3) {
    p->parts[p->part_count] = value;
    p->digits[p->part_count] = digits;
    p->part_count++;
  } else {
    dk_fail(p, DK_INVALID_DATETIME);
  }
}

DK_FN void dk_take_word(DK_PRIVATE dk_date_parser* p) {
  dk_text letters = dk_read_letters(p);
  dk_i32 digits;
  dk_i32 month = dk_find_word(letters, dk_month_words, DK_MONTH_WORDS);
  dk_i32 word = dk_find_word(letters, dk_date_words, DK_DATE_WORDS);
  if (letters.length == 1 && dk_lower_char(letters.data[0]) == 'j' && dk_is_digit(dk_peek(p, 0)) && !p->has_date) {
    p->julian = dk_read_digits(p, &digits);
    p->has_julian = 1;
    p->has_date = 1;
  } else if (month > 0 && p->month == 0 && !p->has_date) {
    p->month = month;
  } else if (word == DK_WORD_T && !p->after_t) {
    p->after_t = 1;
  } else if (word == DK_WORD_AM || word == DK_WORD_PM) {
    if (p->meridiem != DK_WORD_NONE || p->at == letters.length) dk_fail(p, DK_INVALID_DATETIME);
    p->meridiem = word;
  } else if (word == DK_WORD_BC || word == DK_WORD_AD) {
    p->bc = word == DK_WORD_BC;
  } else if (word == DK_WORD_ZONE && !p->has_zone && p->at > letters.length) {
    p->has_zone = 1;
  } else if (word == DK_WORD_EPOCH || word == DK_WORD_INFINITY) {
    if (p->special != DK_WORD_NONE) dk_fail(p, DK_INVALID_DATETIME);
    p->special = word;
  } else if (word != DK_WORD_WEEKDAY) {
    dk_fail(p, DK_INVALID_DATETIME);
  }
}

DK_FN void dk_take_token(DK_PRIVATE dk_date_parser* p) {
  char c = dk_peek(p, 0);
  dk_i32 digits;
  if (dk_is_space(c) || c == ',') {
    p->at++;
  } else if (dk_is_letter(c)) {
    dk_take_word(p);
  } else if (dk_is_digit(c)) {
    dk_i32 value = dk_read_digits(p, &digits);
    char next = dk_peek(p, 0);
    if (next == ':') {
      dk_read_time(p, value);
    } else if ((next == '-' || next == '/' || next == '.') && !p->has_date && !p->after_t && p->month == 0) {
      dk_read_separated_date(p, value, digits);
    } else {
      dk_take_number(p, value, digits);
    }
  } else if ((c == '+' || c == '-') && p->has_time) {
    dk_skip_zone(p);
  } else if (c == '-' && dk_is_letter(dk_peek(p, 1)) && p->special == DK_WORD_NONE && p->at == 0) {
    p->at++;
    dk_take_word(p);
    if (p->special == DK_WORD_INFINITY) {
      p->special = DK_WORD_MINUS_INFINITY;
    } else {
      dk_fail(p, DK_INVALID_DATETIME);
    }
  } else {
    dk_fail(p, DK_INVALID_DATETIME);
  }
}

// ---- the whole

// Numbers that stand alone are year, month and day if the first has more than two digits, else month, day and year.
// They are looked at even where they are too few for a date.
DK_FN void dk_check_parts(DK_PRIVATE dk_date_parser* p) {
  if (p->has_date || p->month != 0) return;
  for (dk_i32 i = 0; i < p->part_count && i < 2; i++) {
    dk_i32 most = i == 0 ? 12 : 31;
    if (p->digits[0] > 2) most = i == 0 ? 1000000000 : 12;
    if (p->parts[i] < 1 || p->parts[i] > most) dk_fail(p, DK_DATETIME_OVERFLOW);
  }
}

// A month's word with two numbers: the year is the one of more than two digits, else the last.
DK_FN void dk_join_parts(DK_PRIVATE dk_date_parser* p) {
  if (p->has_date && p->part_count + p->month == 0) return;
  if (!p->has_date && p->month == 0 && p->part_count == 3) {
    dk_i32 from = p->digits[0] > 2 ? 0 : 2;
    dk_set_date(p, p->parts[from], p->digits[from], p->parts[from == 0], p->parts[from == 0 ? 2 : 1]);
    return;
  }
  if (p->has_date || p->month == 0 || p->part_count != 2) {
    dk_check_parts(p);
    dk_fail(p, DK_INVALID_DATETIME);
    return;
  }
  dk_bool year_first = p->digits[0] > 2;
  dk_i32 year = year_first ? 0 : 1;
  dk_set_date(p, p->parts[year], p->digits[year], p->month, p->parts[1 - year]);
}

DK_FN void dk_apply_meridiem(DK_PRIVATE dk_date_parser* p) {
  if (p->meridiem == DK_WORD_NONE) return;
  dk_i64 hour = p->time / DK_USECS_PER_HOUR;
  if (hour > 12) dk_fail(p, DK_DATETIME_OVERFLOW);
  if (p->meridiem == DK_WORD_AM && hour == 12) p->time -= 12 * DK_USECS_PER_HOUR;
  if (p->meridiem == DK_WORD_PM && hour < 12) p->time += 12 * DK_USECS_PER_HOUR;
}

// Reads a text; afterwards special, or the day and the time, hold what it says, or failed says why not. Returns the
// day.
DK_FN dk_i64 dk_parse_date(DK_PRIVATE dk_date_parser* p, dk_text a) {
  p->text = dk_strip(a);
  p->at = 0;
  p->failed = 0;
  p->part_count = 0;
  p->month = 0;
  p->has_date = 0;
  p->has_time = 0;
  p->has_zone = 0;
  p->after_t = 0;
  p->bc = 0;
  p->meridiem = DK_WORD_NONE;
  p->special = DK_WORD_NONE;
  p->year = 2000;
  p->month_number = 1;
  p->day = 1;
  p->time = 0;
  p->julian = 0;
  p->has_julian = 0;
  while (p->at < p->text.length && p->failed == 0) dk_take_token(p);
  if (p->special != DK_WORD_NONE) {
    dk_check_parts(p);
    if (p->has_date || p->part_count > 0 || p->month > 0) dk_fail(p, DK_INVALID_DATETIME);
    p->time = 0;
    return -DK_DAYS_1970_TO_2000;
  }
  dk_join_parts(p);
  dk_apply_meridiem(p);
  if (p->has_julian) return p->julian - DK_JULIAN_DAY_OF_2000;
  dk_i64 year = p->bc ? 1 - p->year : p->year;
  dk_bool valid = p->year > 0 && p->month_number >= 1 && p->month_number <= 12 && p->day >= 1;
  if (!valid || p->day > dk_days_in_month(year, p->month_number)) {
    dk_fail(p, DK_DATETIME_OVERFLOW);
    return 0;
  }
  return dk_days_of_civil(year, p->month_number, p->day);
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
  return dk_make_timestamp_of(day, p.time, error);
}
