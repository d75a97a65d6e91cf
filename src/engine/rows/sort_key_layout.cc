#include "engine/rows/sort_key_layout.h"

#include <algorithm>
#include <bit>

namespace diptych {
namespace {

// Bits that every value of an integer key with known bounds, and NULL, can be told apart with; 0 when they pass a word.
int packed_bits(const RegisterInfo& column) {
  const bool integer = column.physical == PhysicalType::Int32 || column.physical == PhysicalType::Int64 ||
                       column.physical == PhysicalType::Int128;
  if (!integer || !column.has_range || column.low < INT64_MIN || column.high > INT64_MAX) return 0;
  const int128_t values = column.high - column.low + 1 + (column.nullable ? 1 : 0);
  return values > (int128_t{1} << 63)
             ? 0
             : std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(values - 1))));
}

size_t key_words(PhysicalType physical) {
  return physical == PhysicalType::Int128 || physical == PhysicalType::Interval ? 2 : 1;
}

}  // namespace

SortKeyLayout::SortKeyLayout(const RowSetInfo& info) {
  int free_bits = 0;  // of the last word
  for (size_t i = 0; i < info.keys.size(); ++i) {
    const RegisterInfo& column = info.columns[i];
    const SortKeyInfo& order = info.keys[i];
    SortKeyPlace key{column.physical,   column.nullable, order.descending,
                     order.nulls_first, words,           key_words(column.physical)};
    key.bits = packed_bits(column);
    if (key.bits > 0) {
      key.words = 1;
      key.first_value = static_cast<int64_t>(order.descending ? column.high : column.low);
      key.first_code = column.nullable && order.nulls_first ? 1 : 0;
      key.null_code = order.nulls_first ? 0 : static_cast<uint64_t>(column.high - column.low + 1);
      key.starts_word = key.bits > free_bits;
      if (!key.starts_word) key.at = words - 1;
      free_bits = (key.starts_word ? 64 : free_bits) - key.bits;
    } else {
      free_bits = 0;
    }
    words = std::max(words, key.end());
    keys.push_back(key);
  }
}

}  // namespace diptych
