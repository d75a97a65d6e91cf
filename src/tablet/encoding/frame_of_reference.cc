#include "tablet/encoding/frame_of_reference.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>

#include "tablet/validity_bits.h"

namespace diptych {
namespace {

int width_of(uint64_t greatest_code) {
  if (greatest_code == 0) return 0;
  if (greatest_code <= 0xFF) return 1;
  if (greatest_code <= 0xFFFF) return 2;
  if (greatest_code <= 0xFFFFFFFF) return 4;
  return 8;
}

// Distances from the base, without overflow whatever the signs.
template <typename T>
uint64_t distance(T value, T base) {
  return static_cast<uint64_t>(static_cast<int64_t>(value)) - static_cast<uint64_t>(static_cast<int64_t>(base));
}

// The greatest common divisor of the distances of every stride-th value, 1 when `range` divided by it needs `width`
// bytes still.
template <typename T>
uint64_t common_factor(std::span<const T> values, T base, uint64_t range, int width, size_t stride) {
  uint64_t factor = range;
  for (size_t i = 0; i < values.size(); i += stride) {
    uint64_t d = distance(values[i], base);
    if (d % factor != 0) {
      factor = std::gcd(factor, d);
      if (width_of(range / factor) == width) return 1;
    }
  }
  return width_of(range / factor) == width ? 1 : factor;
}

// Exact division by a known factor: d is a multiple of factor = odd * 2^shift exactly when d times the inverse of odd,
// rotated right by shift, is at most 2^64 / factor, and then that is the quotient (Granlund and Montgomery, Division by
// Invariant Integers using Multiplication, PLDI 1994, section 9).
struct ExactDivision {
  explicit ExactDivision(uint64_t factor) : shift(std::countr_zero(factor)), limit(UINT64_MAX / factor) {
    uint64_t odd = factor >> shift;
    inverse = odd;  // right in the lowest 3 bits; each Newton step doubles that
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  }
  int shift;
  uint64_t limit;
  uint64_t inverse = 0;
};

// False when a distance is no multiple of the factor; the codes mean nothing then.
template <typename T, typename Code>
bool encode_with_factor(std::span<const T> values, T base, uint64_t factor, Code* codes) {
  ExactDivision division(factor);
  uint64_t greatest = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    uint64_t quotient = std::rotr(distance(values[i], base) * division.inverse, division.shift);
    greatest = std::max(greatest, quotient);
    codes[i] = static_cast<Code>(quotient);
  }
  return greatest <= division.limit;
}

template <typename T, typename Code>
void encode_plainly(std::span<const T> values, T base, Code* codes) {
  using Unsigned = std::make_unsigned_t<T>;
  for (size_t i = 0; i < values.size(); ++i) {
    codes[i] = static_cast<Code>(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(base));
  }
}

template <typename T, typename Code>
bool encode_codes(std::span<const T> values, T base, uint64_t factor, EncodedColumn& column) {
  Code* codes = column.data.as<Code>();
  if (factor > 1) {
    if (!encode_with_factor(values, base, factor, codes)) return false;
  } else {
    encode_plainly(values, base, codes);
  }
  if (!column.validity.empty()) {
    const uint8_t* validity = column.validity.as<uint8_t>();
    for (size_t i = 0; i < values.size(); ++i)
      codes[i] = is_valid(validity, static_cast<int64_t>(i)) ? codes[i] : Code{0};
  }
  return true;
}

template <typename T>
bool encode(std::span<const T> values, T base, uint64_t range, uint64_t factor, int least_width,
            EncodedColumn& column) {
  const int width = std::max(width_of(range / factor), least_width);
  column.encoding = Encoding::FrameOfReference;
  column.width = static_cast<uint8_t>(width);
  column.base = static_cast<int64_t>(base);
  column.factor = static_cast<int64_t>(factor);
  column.data.resize(values.size() * static_cast<size_t>(width));
  switch (width) {
    case 0: return true;
    case 1: return encode_codes<T, uint8_t>(values, base, factor, column);
    case 2: return encode_codes<T, uint16_t>(values, base, factor, column);
    case 4: return encode_codes<T, uint32_t>(values, base, factor, column);
    default: return encode_codes<T, uint64_t>(values, base, factor, column);
  }
}

// Values looked at before a factor is tried on all of them.
constexpr size_t sample_values = 64;

}  // namespace

template <typename T>
void fill_nulls(std::span<T> values, const uint8_t* validity) {
  size_t first = 0;
  while (first < values.size() && !is_valid(validity, static_cast<int64_t>(first))) ++first;
  const T filler = first < values.size() ? values[first] : T{0};
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = is_valid(validity, static_cast<int64_t>(i)) ? values[i] : filler;
}

template <typename T>
void encode_integers(std::span<const T> values, UsualForm form, EncodedColumn& column) {
  column.encoding = Encoding::FrameOfReference;
  if (values.empty()) return;
  T low = std::numeric_limits<T>::max(), high = std::numeric_limits<T>::min();
  for (T value : values) {
    low = value < low ? value : low;
    high = value > high ? value : high;
  }
  if (column.zone.null_count < static_cast<int64_t>(values.size())) {
    column.zone.has_bounds = true;
    column.zone.low = low;
    column.zone.high = high;
  }
  uint64_t range = distance(high, low);
  int width = width_of(range);
  if (const auto usual = static_cast<uint64_t>(form.factor);
      usual > 0 && width_of(range / usual) <= form.width && encode(values, low, range, usual, form.width, column))
    return;
  if (width >= 2) {
    size_t stride = std::max<size_t>(1, values.size() / sample_values);
    uint64_t factor = common_factor(values, low, range, width, stride);
    if (factor > 1 && factor <= INT64_MAX && encode(values, low, range, factor, form.width, column)) return;
    if (factor > 1) factor = common_factor(values, low, range, width, 1);
    if (factor > 1 && factor <= INT64_MAX && encode(values, low, range, factor, form.width, column)) return;
  }
  encode(values, low, range, 1, form.width, column);
}

template void fill_nulls(std::span<uint8_t>, const uint8_t*);
template void fill_nulls(std::span<int32_t>, const uint8_t*);
template void fill_nulls(std::span<int64_t>, const uint8_t*);
template void encode_integers(std::span<const uint8_t>, UsualForm, EncodedColumn&);
template void encode_integers(std::span<const int32_t>, UsualForm, EncodedColumn&);
template void encode_integers(std::span<const int64_t>, UsualForm, EncodedColumn&);

}  // namespace diptych
