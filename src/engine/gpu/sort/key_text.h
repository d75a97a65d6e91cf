// The statements of a generated kernel that write the key words of a row.
#pragma once

#include <string>

#include "engine/rows/sort_key_layout.h"

namespace diptych::gpu {

// Expressions of what an integer with known bounds is packed by: first_value and null_code of its place. They are not
// literals, since rows that are added change them.
struct SortBoundText {
  std::string first_value = "0", null_code = "0";
};

// For one key, in the order of the keys: sets <words>[place.at] and the words after it, or shifts the key into the word
// that it shares. value: an expression of the place's physical type; valid: one that is 1 or 0. Both are used more than
// once. The kernel's text has sort_key.h before it.
//
//   key[0] = dk_sort_null(v3, 0);
//   key[1] = dk_sort_value(v3, dk_sort_word_f64(r3), 1);
std::string sort_key_statements(const SortKeyPlace& place, const SortBoundText& bounds, const std::string& value,
                                const std::string& valid, const std::string& words);

}  // namespace diptych::gpu
