#include "tablet/statistics/distinct_sketch.h"

#include <algorithm>
#include <cstring>

#include "tablet/cells.h"
#include "tablet/statistics/row_sample.h"

namespace diptych {
namespace {

constexpr int64_t all_rows_end = 16384;
constexpr int64_t stratum_rows = 32;
constexpr uint32_t values_part = 64;
// Of fewer values in the sample of values the sample of rows tells more.
constexpr double enough_values = 32;

// The hash that decides whether a value is of the sample: of 32 bits, four of which SSE makes at once (multiplied and
// shifted as in MurmurHash3).
uint32_t mixed(uint32_t bits) {
  bits *= 0x85EBCA6B;
  bits ^= bits >> 15;
  return bits * 0xC2B2AE35;
}
constexpr uint32_t sample_end = UINT32_MAX / values_part + 1;

uint32_t folded(uint64_t bits) { return static_cast<uint32_t>(bits) + static_cast<uint32_t>(bits >> 32) * 0x9E3779B1; }

// What a column's rows are hashed by: bits() for the sample of values, hash() for the sketches. Both are functions of
// the value alone.
template <typename Code>
struct FramedRows {
  explicit FramedRows(const ColumnView& view)
      : codes(reinterpret_cast<const Code*>(view.data)),
        base(static_cast<uint64_t>(view.base)),
        factor(static_cast<uint64_t>(view.factor)) {}
  // The lower half is enough: multiples of 2^32 are no values that tables are full of.
  uint32_t bits(int64_t row) const {
    return static_cast<uint32_t>(base) + static_cast<uint32_t>(factor) * static_cast<uint32_t>(codes[row]);
  }
  uint64_t hash(int64_t row) const { return HyperLogLog::mixed(base + factor * codes[row]); }
  const Code* codes;
  uint64_t base, factor;
};

template <typename T>
struct FloatRows {
  explicit FloatRows(const ColumnView& view) : values(reinterpret_cast<const T*>(view.data)) {}
  uint64_t image(int64_t row) const { return std::bit_cast<uint64_t>(static_cast<double>(values[row]) + 0.0); }
  uint32_t bits(int64_t row) const { return folded(image(row)); }
  uint64_t hash(int64_t row) const { return HyperLogLog::mixed(image(row)); }
  const T* values;
};

// Integers in plain form, whose lower halves are what FramedRows hashes.
struct PlainIntegers {
  explicit PlainIntegers(const ColumnView& plain) : view(plain) {}
  uint32_t bits(int64_t row) const { return static_cast<uint32_t>(integer_at(view, row)); }
  uint64_t hash(int64_t row) const {
    const int128_t value = integer_at(view, row);
    const auto low = static_cast<uint64_t>(value);
    if (value == static_cast<int64_t>(value)) return HyperLogLog::mixed(low);
    return HyperLogLog::mixed(low ^ HyperLogLog::mixed(static_cast<uint64_t>(value >> 64)));
  }
  const ColumnView& view;
};

struct Intervals {
  explicit Intervals(const ColumnView& plain) : view(plain) {}
  uint64_t image(int64_t row) const { return std::bit_cast<uint64_t>(sampled_number(plain_at<Interval>(view, row))); }
  uint32_t bits(int64_t row) const { return folded(image(row)); }
  uint64_t hash(int64_t row) const { return HyperLogLog::mixed(image(row)); }
  const ColumnView& view;
};

// Of a string longer than twice this its ends and its length count: strings are seldom alike in them.
constexpr size_t end_bytes = 32;

// Multiplied word by word, the last one up to the end.
uint64_t with_words(uint64_t hash, const char* bytes, size_t count) {
  uint64_t word = 0;
  for (size_t at = 0; at + sizeof word < count; at += sizeof word) {
    std::memcpy(&word, bytes + at, sizeof word);
    hash = std::rotl((hash ^ word) * 0x9E3779B97F4A7C15, 31);
  }
  // Shorter ones are filled with zeros.
  if (count >= sizeof word)
    std::memcpy(&word, bytes + count - sizeof word, sizeof word);
  else if (count > 0)
    std::memcpy(&word, bytes, count);
  return (hash ^ word) * 0x9E3779B97F4A7C15;
}

struct HeapStrings {
  explicit HeapStrings(const ColumnView& strings) : view(strings) {}
  uint64_t image(int64_t row) const {
    const std::string_view text = string_at(view, row);
    if (text.size() <= 2 * end_bytes) return with_words(text.size(), text.data(), text.size());
    const uint64_t first = with_words(text.size(), text.data(), end_bytes);
    return with_words(first, text.data() + text.size() - end_bytes, end_bytes);
  }
  uint32_t bits(int64_t row) const { return folded(image(row)); }
  uint64_t hash(int64_t row) const { return HyperLogLog::mixed(image(row)); }
  const ColumnView& view;
};

struct Sketches {
  HyperLogLog& of_rows;
  HyperLogLog& of_values;
};

// Blocks of rows: compilers make vector code of the first loop, and the second one skips eight rows at a time.
template <typename Rows>
void add_rows(const Rows& values, int64_t rows, std::span<const int32_t> sampled, Sketches sketches) {
  for (const int32_t row : sampled) sketches.of_rows.add(values.hash(row));
  constexpr int64_t block_rows = 256;
  alignas(16) uint8_t is_in[block_rows];
  for (int64_t first = 0; first < rows; first += block_rows) {
    const int64_t count = std::min(block_rows, rows - first);
    if (count < block_rows) std::fill(std::begin(is_in), std::end(is_in), uint8_t{0});
    for (int64_t i = 0; i < count; ++i) is_in[i] = mixed(values.bits(first + i)) < sample_end;
    for (int64_t i = 0; i < block_rows; i += 8) {
      uint64_t eight = 0;
      std::memcpy(&eight, is_in + i, sizeof eight);
      for (; eight != 0; eight &= eight - 1)
        sketches.of_values.add(values.hash(first + i + std::countr_zero(eight) / 8));
    }
  }
}

// Each code once.
void add_byte_codes(const ColumnView& view, int64_t rows, Sketches sketches) {
  uint8_t present[256] = {}, codes[256];
  for (int64_t row = 0; row < rows; ++row) present[plain_at<uint8_t>(view, row)] = 1;
  int64_t count = 0;
  for (int code = 0; code < 256; ++code)
    if (present[code] != 0) codes[count++] = static_cast<uint8_t>(code);
  ColumnView different = view;
  different.data = reinterpret_cast<const std::byte*>(codes);
  const FramedRows<uint8_t> values(different);
  for (int64_t i = 0; i < count; ++i) sketches.of_rows.add(values.hash(i));
  add_rows(values, count, {}, sketches);
}

void add_framed(const ColumnView& view, int64_t rows, std::span<const int32_t> sampled, Sketches sketches) {
  static constexpr uint8_t zero = 0;
  switch (view.width) {
    case 0: {
      ColumnView one = view;
      one.data = reinterpret_cast<const std::byte*>(&zero);
      return add_byte_codes(one, 1, sketches);
    }
    case 1: return add_byte_codes(view, rows, sketches);
    case 2: return add_rows(FramedRows<uint16_t>(view), rows, sampled, sketches);
    case 4: return add_rows(FramedRows<uint32_t>(view), rows, sampled, sketches);
    default: return add_rows(FramedRows<uint64_t>(view), rows, sampled, sketches);
  }
}

}  // namespace

void DistinctSketch::add(const ColumnView& view, int64_t rows, std::span<const int32_t> sampled) {
  if (rows == 0 || view.encoding == Encoding::Dictionary) return;
  const Sketches sketches{of_rows_, of_values_};
  if (view.encoding == Encoding::FrameOfReference) return add_framed(view, rows, sampled, sketches);
  switch (view.physical) {
    case PhysicalType::Float32: return add_rows(FloatRows<float>(view), rows, sampled, sketches);
    case PhysicalType::Float64: return add_rows(FloatRows<double>(view), rows, sampled, sketches);
    case PhysicalType::Interval: return add_rows(Intervals(view), rows, sampled, sketches);
    case PhysicalType::Text: return add_rows(HeapStrings(view), rows, sampled, sketches);
    default: return add_rows(PlainIntegers(view), rows, sampled, sketches);
  }
}

void DistinctSketch::merge(const DistinctSketch& other) {
  of_rows_.merge(other.of_rows_);
  of_values_.merge(other.of_values_);
}

double DistinctSketch::estimate() const {
  const double of_rows = std::max(1.0, of_rows_.estimate()), of_values = of_values_.estimate();
  return of_values < enough_values ? of_rows : std::max(of_rows, of_values * values_part);
}

std::vector<int32_t> sampled_rows(int64_t first_position, int64_t rows) {
  std::vector<int32_t> sampled;
  const int64_t all_end = std::clamp<int64_t>(all_rows_end - first_position, 0, rows);
  for (int64_t row = 0; row < all_end; ++row) sampled.push_back(static_cast<int32_t>(row));
  for (int64_t row = all_end; row < rows; row += stratum_rows) {
    const auto offset = HyperLogLog::mixed(static_cast<uint64_t>(first_position + row)) >> 59;
    const int64_t chosen = row + static_cast<int64_t>(offset);
    if (chosen < rows) sampled.push_back(static_cast<int32_t>(chosen));
  }
  return sampled;
}

}  // namespace diptych
