// Where the sort keys of a row lie in the words that stand for them, which compare as unsigned numbers in the order of
// ORDER BY (kernel/sort_key.h):
//
// Integers whose bounds are known take as few bits as their range needs, NULL included, and share a word with their
// neighbours:
//   ORDER BY l_shipdate (12 bits), l_orderkey (23 bits)  ->  one word
// Other keys take a word of their own, or two, after a word for NULL when they can be. A string has a word for its
// first 8 bytes, which does not order equal ones.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace diptych {

struct SortKeyPlace {
  PhysicalType physical;
  bool nullable, descending, nulls_first;
  size_t at;     // first word: the null flag when nullable
  size_t words;  // of the value
  int bits = 0;  // packed: of the word that it shares; 0: a word of its own
  bool starts_word = true;
  // Packed: the value that sorts first and its code, and the code of NULL, which is one before that or one past the
  // last.
  int64_t first_value = 0;
  uint64_t first_code = 0, null_code = 0;

  size_t end() const { return at + words + (nullable && bits == 0 ? 1 : 0); }
};

struct SortKeyLayout {
  std::vector<SortKeyPlace> keys;
  size_t words = 0;

  explicit SortKeyLayout(const RowSetInfo& info);
};

}  // namespace diptych
