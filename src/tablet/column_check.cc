#include "tablet/column_check.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "tablet/cells.h"
#include "tablet/dictionary.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

// Longer strings are not written; lengths of 32 bits with a sign hold all shorter ones.
constexpr uint32_t longest_string = uint32_t{1} << 30;

void require(bool holds, const char* what) {
  if (!holds) throw Error(SqlState::data_corrupted, std::string("damaged tablet: ") + what);
}

template <typename Code>
uint64_t greatest(const std::byte* bytes, int64_t rows) {
  const Code* codes = reinterpret_cast<const Code*>(bytes);
  Code most = 0;
  for (int64_t i = 0; i < rows; ++i) most = std::max(most, codes[i]);
  return most;
}

uint64_t greatest_code(const ColumnView& view, int64_t rows) {
  switch (view.width) {
    case 0: return 0;
    case 1: return greatest<uint8_t>(view.data, rows);
    case 2: return greatest<uint16_t>(view.data, rows);
    case 4: return greatest<uint32_t>(view.data, rows);
    default: return greatest<uint64_t>(view.data, rows);
  }
}

// What no code can pass, whatever the bytes are.
uint64_t code_limit(const ColumnMeta& meta) {
  int bits = meta.data.codec == AreaCodec::Bits ? meta.data.bits : 8 * meta.width;
  return bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

// NULLs, too: their code is 0, so the base has to be within the bounds.
void check_framed(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  const ZoneMap& zone = meta.zone;
  if (!zone.has_bounds)
    return require(meta.base == 0 && greatest_code(view, rows) == 0, "values where all should be NULL");
  auto is_within = [&](uint64_t code) { return meta.base + int128_t{meta.factor} * code <= zone.high; };
  require(meta.base >= zone.low && (is_within(code_limit(meta)) || is_within(greatest_code(view, rows))),
          "values outside their bounds");
}

// A NULL's code is 0, also where the dictionary is empty.
void check_codes(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  const uint32_t end = std::max(std::min(meta.code_end, view.dictionary->size()), uint32_t{1});
  require(greatest_code(view, rows) < end, "codes outside the dictionary");
}

void check_wide(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  const ZoneMap& zone = meta.zone;
  bool outside = false;
  for (int64_t row = 0; row < rows; ++row) {
    int128_t value = plain_at<int128_t>(view, row);
    outside |= (value < zone.low || value > zone.high) && !is_null_at(view, row);
  }
  require(!outside, "values outside their bounds");
}

template <typename T>
void check_floats(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const ZoneMap& zone = meta.zone;
  // NaN counts as the greatest value: with it as the greatest, numbers have no upper bound; as the least, there are
  // none.
  const bool allows_nan = std::isnan(zone.high_float), only_nan = std::isnan(zone.low_float);
  const double low = only_nan ? infinity : zone.low_float;
  const double high = only_nan ? -infinity : allows_nan ? infinity : zone.high_float;
  auto is_outside = [&](int64_t row) {
    const double value = static_cast<double>(plain_at<T>(view, row));
    return (value < low) | (value > high) | ((value != value) & !allows_nan);
  };
  bool outside = false;
  if (view.validity == nullptr) {
    for (int64_t row = 0; row < rows; ++row) outside |= is_outside(row);
  } else {
    for (int64_t row = 0; row < rows; ++row) outside |= is_outside(row) && !is_null_at(view, row);
  }
  require(!outside, "values outside their bounds");
}

void check_strings(int64_t rows, const ColumnView& view) {
  uint32_t longest = 0;
  for (int64_t row = 0; row < rows; ++row) longest = std::max(longest, view.offsets[row + 1] - view.offsets[row]);
  require(longest < longest_string, "a string that is too long");
  if (view.validity == nullptr) return;
  bool is_empty = true;
  for (int64_t row = 0; row < rows; ++row) {
    is_empty &= !is_null_at(view, row) || view.offsets[row] == view.offsets[row + 1];
  }
  require(is_empty, "a NULL that has a string");
}

}  // namespace

void check_values(const ColumnMeta& meta, int64_t rows, const ColumnView& view) {
  if (view.validity != nullptr) {
    require(count_ones(view.validity, 0, rows) == rows - meta.zone.null_count, "another number of NULLs");
  }
  switch (meta.encoding) {
    case Encoding::FrameOfReference: return check_framed(meta, rows, view);
    case Encoding::Dictionary: return check_codes(meta, rows, view);
    case Encoding::Heap: return check_strings(rows, view);
    case Encoding::Plain: break;
  }
  if (meta.physical == PhysicalType::Int128) check_wide(meta, rows, view);
  if (meta.physical == PhysicalType::Float32 && meta.zone.has_bounds) check_floats<float>(meta, rows, view);
  if (meta.physical == PhysicalType::Float64 && meta.zone.has_bounds) check_floats<double>(meta, rows, view);
}

}  // namespace diptych
