// The words of date and time input: months, units, and the rest, as PostgreSQL knows them, compared in their first 10
// letters.
#pragma once

typedef struct dk_word {
  char name[11];
  dk_i8 value;
} dk_word;

DK_CONSTANT dk_word dk_month_words[] = {
    {"january", 1},  {"jan", 1},    {"february", 2},  {"feb", 2},  {"march", 3},     {"mar", 3},
    {"april", 4},    {"apr", 4},    {"may", 5},       {"june", 6}, {"jun", 6},       {"july", 7},
    {"jul", 7},      {"august", 8}, {"aug", 8},       {"sept", 9}, {"september", 9}, {"sep", 9},
    {"october", 10}, {"oct", 10},   {"november", 11}, {"nov", 11}, {"december", 12}, {"dec", 12}};
#define DK_MONTH_WORDS 24

// The unit of time that a word names.
enum dk_time_unit {
  DK_UNIT_NONE = -1,
  DK_UNIT_MICROSECONDS,
  DK_UNIT_MILLISECONDS,
  DK_UNIT_SECOND,
  DK_UNIT_MINUTE,
  DK_UNIT_HOUR,
  DK_UNIT_DAY,
  DK_UNIT_WEEK,
  DK_UNIT_MONTH,
  DK_UNIT_QUARTER,
  DK_UNIT_YEAR,
  DK_UNIT_DECADE,
  DK_UNIT_CENTURY,
  DK_UNIT_MILLENNIUM
};

DK_CONSTANT dk_word dk_unit_words[] = {{"us", DK_UNIT_MICROSECONDS},
                                       {"usec", DK_UNIT_MICROSECONDS},
                                       {"usecond", DK_UNIT_MICROSECONDS},
                                       {"useconds", DK_UNIT_MICROSECONDS},
                                       {"usecs", DK_UNIT_MICROSECONDS},
                                       {"microsecon", DK_UNIT_MICROSECONDS},
                                       {"ms", DK_UNIT_MILLISECONDS},
                                       {"msec", DK_UNIT_MILLISECONDS},
                                       {"msecond", DK_UNIT_MILLISECONDS},
                                       {"mseconds", DK_UNIT_MILLISECONDS},
                                       {"msecs", DK_UNIT_MILLISECONDS},
                                       {"millisecon", DK_UNIT_MILLISECONDS},
                                       {"s", DK_UNIT_SECOND},
                                       {"sec", DK_UNIT_SECOND},
                                       {"second", DK_UNIT_SECOND},
                                       {"seconds", DK_UNIT_SECOND},
                                       {"secs", DK_UNIT_SECOND},
                                       {"m", DK_UNIT_MINUTE},
                                       {"min", DK_UNIT_MINUTE},
                                       {"minute", DK_UNIT_MINUTE},
                                       {"minutes", DK_UNIT_MINUTE},
                                       {"mins", DK_UNIT_MINUTE},
                                       {"h", DK_UNIT_HOUR},
                                       {"hour", DK_UNIT_HOUR},
                                       {"hours", DK_UNIT_HOUR},
                                       {"hr", DK_UNIT_HOUR},
                                       {"hrs", DK_UNIT_HOUR},
                                       {"d", DK_UNIT_DAY},
                                       {"day", DK_UNIT_DAY},
                                       {"days", DK_UNIT_DAY},
                                       {"w", DK_UNIT_WEEK},
                                       {"week", DK_UNIT_WEEK},
                                       {"weeks", DK_UNIT_WEEK},
                                       {"mon", DK_UNIT_MONTH},
                                       {"mons", DK_UNIT_MONTH},
                                       {"month", DK_UNIT_MONTH},
                                       {"months", DK_UNIT_MONTH},
                                       {"qtr", DK_UNIT_QUARTER},
                                       {"quarter", DK_UNIT_QUARTER},
                                       {"y", DK_UNIT_YEAR},
                                       {"year", DK_UNIT_YEAR},
                                       {"years", DK_UNIT_YEAR},
                                       {"yr", DK_UNIT_YEAR},
                                       {"yrs", DK_UNIT_YEAR},
                                       {"dec", DK_UNIT_DECADE},
                                       {"decade", DK_UNIT_DECADE},
                                       {"decades", DK_UNIT_DECADE},
                                       {"decs", DK_UNIT_DECADE},
                                       {"c", DK_UNIT_CENTURY},
                                       {"cent", DK_UNIT_CENTURY},
                                       {"century", DK_UNIT_CENTURY},
                                       {"centuries", DK_UNIT_CENTURY},
                                       {"mil", DK_UNIT_MILLENNIUM},
                                       {"mils", DK_UNIT_MILLENNIUM},
                                       {"millennium", DK_UNIT_MILLENNIUM},
                                       {"millennia", DK_UNIT_MILLENNIUM}};
#define DK_UNIT_WORDS 56

// Words of a date or timestamp besides months.
enum dk_date_word {
  DK_WORD_NONE = -1,
  DK_WORD_WEEKDAY,
  DK_WORD_AM,
  DK_WORD_PM,
  DK_WORD_AD,
  DK_WORD_BC,
  DK_WORD_EPOCH,
  DK_WORD_INFINITY,
  DK_WORD_MINUS_INFINITY,
  DK_WORD_ZONE,
  DK_WORD_ALLBALLS,  // 00:00:00 UTC
  DK_WORD_IGNORED,
  DK_WORD_REFUSED,  // known words that make no date here
  // What the number after it is.
  DK_WORD_T,
  DK_WORD_YEAR,
  DK_WORD_MONTH,
  DK_WORD_DAY,
  DK_WORD_HOUR,
  DK_WORD_MINUTE,
  DK_WORD_SECOND,
  DK_WORD_JULIAN
};

DK_CONSTANT dk_word dk_date_words[] = {{"monday", DK_WORD_WEEKDAY},
                                       {"mon", DK_WORD_WEEKDAY},
                                       {"tuesday", DK_WORD_WEEKDAY},
                                       {"tues", DK_WORD_WEEKDAY},
                                       {"tue", DK_WORD_WEEKDAY},
                                       {"wednesday", DK_WORD_WEEKDAY},
                                       {"weds", DK_WORD_WEEKDAY},
                                       {"wed", DK_WORD_WEEKDAY},
                                       {"thursday", DK_WORD_WEEKDAY},
                                       {"thurs", DK_WORD_WEEKDAY},
                                       {"thur", DK_WORD_WEEKDAY},
                                       {"thu", DK_WORD_WEEKDAY},
                                       {"friday", DK_WORD_WEEKDAY},
                                       {"fri", DK_WORD_WEEKDAY},
                                       {"saturday", DK_WORD_WEEKDAY},
                                       {"sat", DK_WORD_WEEKDAY},
                                       {"sunday", DK_WORD_WEEKDAY},
                                       {"sun", DK_WORD_WEEKDAY},
                                       {"am", DK_WORD_AM},
                                       {"pm", DK_WORD_PM},
                                       {"ad", DK_WORD_AD},
                                       {"bc", DK_WORD_BC},
                                       {"epoch", DK_WORD_EPOCH},
                                       {"infinity", DK_WORD_INFINITY},
                                       {"z", DK_WORD_ZONE},
                                       {"zulu", DK_WORD_ZONE},
                                       {"utc", DK_WORD_ZONE},
                                       {"gmt", DK_WORD_ZONE},
                                       {"t", DK_WORD_T},
                                       {"allballs", DK_WORD_ALLBALLS},
                                       {"at", DK_WORD_IGNORED},
                                       {"on", DK_WORD_IGNORED},
                                       {"now", DK_WORD_REFUSED},
                                       {"today", DK_WORD_REFUSED},
                                       {"tomorrow", DK_WORD_REFUSED},
                                       {"yesterday", DK_WORD_REFUSED},
                                       {"dow", DK_WORD_REFUSED},
                                       {"doy", DK_WORD_REFUSED},
                                       {"isodow", DK_WORD_REFUSED},
                                       {"isoyear", DK_WORD_REFUSED},
                                       {"dst", DK_WORD_REFUSED},
                                       {"y", DK_WORD_YEAR},
                                       {"m", DK_WORD_MONTH},
                                       {"d", DK_WORD_DAY},
                                       {"h", DK_WORD_HOUR},
                                       {"mm", DK_WORD_MINUTE},
                                       {"s", DK_WORD_SECOND},
                                       {"j", DK_WORD_JULIAN},
                                       {"jd", DK_WORD_JULIAN},
                                       {"julian", DK_WORD_JULIAN}};
#define DK_DATE_WORDS 50

DK_FN dk_bool dk_is_word(dk_text a, DK_CONSTANT_SPACE const dk_word* word) {
  dk_i32 letters = a.length < 10 ? a.length : 10;
  for (dk_i32 i = 0; i < letters; i++) {
    if (dk_lower_char(a.data[i]) != word->name[i]) return 0;
  }
  return word->name[letters] == 0;
}

// The value of a word in a table of `count`, or -1.
DK_FN dk_i32 dk_find_word(dk_text a, DK_CONSTANT_SPACE const dk_word* words, dk_i32 count) {
  for (dk_i32 i = 0; i < count; i++) {
    if (dk_is_word(a, words + i)) return words[i].value;
  }
  return -1;
}

// Whether the word has a meaning in a date, the names of zones aside.
DK_FN dk_bool dk_is_date_word(dk_text word) {
  dk_i32 found = dk_find_word(word, dk_date_words, DK_DATE_WORDS);
  return (found >= 0 && found != DK_WORD_ZONE) || dk_find_word(word, dk_month_words, DK_MONTH_WORDS) > 0;
}

DK_FN dk_i32 dk_time_unit_of(dk_text word) { return dk_find_word(word, dk_unit_words, DK_UNIT_WORDS); }
