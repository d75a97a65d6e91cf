#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "tablet/encoding/frame_of_reference.h"
#include "tablet/encoding/staged_column.h"
#include "tablet/encoding/staged_strings.h"

namespace diptych {
namespace {

// Copies fixed-width values as they come, or looks at those of a whole tablet where they are; what differs by type is
// how they are encoded.
template <typename T>
class StagedValues : public StagedColumn {
 public:
  explicit StagedValues(PhysicalType physical) : physical_(physical) {}

  void append(const BatchColumn& column, int64_t first, int64_t count) override {
    size_t rows = static_cast<size_t>(validity_.rows());
    values_.resize((rows + static_cast<size_t>(count)) * sizeof(T));
    std::memcpy(values_.as<T>() + rows, static_cast<const T*>(column.values) + first,
                static_cast<size_t>(count) * sizeof(T));
    validity_.append(column.validity, column.validity_offset + first, count);
  }

  void view(const BatchColumn& column, int64_t first, int64_t count) override {
    if (column.validity != nullptr) return append(column, first, count);
    viewed_ = {static_cast<const T*>(column.values) + first, static_cast<size_t>(count)};
    validity_.append(nullptr, 0, count);
  }

  EncodedColumn finish(UsualForm form) override {
    EncodedColumn column;
    column.physical = physical_;
    column.zone.null_count = validity_.null_count();
    const std::span<T> values(values_.as<T>(), values_.size() / sizeof(T));
    column.validity = validity_.take();
    encode(viewed_.empty() ? values : std::exchange(viewed_, {}), form, column);
    values_.resize(0);
    return column;
  }

  int64_t bytes() const override { return static_cast<int64_t>(values_.size() + viewed_.size_bytes()); }

 private:
  void encode(std::span<const T> values, UsualForm form, EncodedColumn& column);
  void encode_plain(std::span<const T> values, EncodedColumn& column);

  PhysicalType physical_;
  AlignedBuffer values_;
  std::span<const T> viewed_;  // all rows, instead; there are no nulls among them
};

template <typename T>
void StagedValues<T>::encode_plain(std::span<const T> values, EncodedColumn& column) {
  column.encoding = Encoding::Plain;
  column.data.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(column.data.data(), values.data(), values.size_bytes());
  if (column.validity.empty()) return;
  T* data = column.data.as<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_valid(column.validity.as<uint8_t>(), static_cast<int64_t>(i))) data[i] = T{};
  }
}

// Of numbers; NaN is none of them, as it is neither less nor more.
template <typename T>
struct FloatBounds {
  void add(T value) {
    low = value < low ? value : low;
    high = value > high ? value : high;
    any_nan |= static_cast<uint8_t>(std::isnan(value));
  }
  void add(const FloatBounds& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
    any_nan |= other.any_nan;
  }

  T low = std::numeric_limits<T>::infinity(), high = -low;
  uint8_t any_nan = 0;
};

// In lanes, since each least value waits for the one before.
template <typename T>
FloatBounds<T> bounds_of(std::span<const T> values) {
  constexpr size_t lanes = 8;
  std::array<FloatBounds<T>, lanes> bounds;
  const size_t whole = values.size() / lanes * lanes;
  for (size_t i = 0; i < whole; i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane) bounds[lane].add(values[i + lane]);
  for (size_t i = whole; i < values.size(); ++i) bounds[0].add(values[i]);
  for (size_t lane = 1; lane < lanes; ++lane) bounds[0].add(bounds[lane]);
  return bounds[0];
}

template <typename T>
FloatBounds<T> bounds_of(std::span<const T> values, const uint8_t* validity) {
  FloatBounds<T> bounds;
  for (size_t i = 0; i < values.size(); ++i)
    if (is_valid(validity, static_cast<int64_t>(i))) bounds.add(values[i]);
  return bounds;
}

template <typename T>
void set_float_bounds(std::span<const T> values, EncodedColumn& column) {
  const FloatBounds<T> bounds =
      column.validity.empty() ? bounds_of(values) : bounds_of(values, column.validity.as<uint8_t>());
  const bool any_number = bounds.low <= bounds.high, any_nan = bounds.any_nan != 0;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  column.zone.has_bounds = any_number || any_nan;
  column.zone.low_float = any_number ? static_cast<double>(bounds.low) : nan;
  column.zone.high_float = any_nan ? nan : static_cast<double>(bounds.high);
}

// Bounds of the non-null values; false when there are none.
bool find_bounds(std::span<const int128_t> values, EncodedColumn& column) {
  const uint8_t* validity = column.validity.empty() ? nullptr : column.validity.as<uint8_t>();
  ZoneMap& zone = column.zone;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!is_valid(validity, static_cast<int64_t>(i))) continue;
    if (!zone.has_bounds) zone.low = zone.high = values[i];
    zone.has_bounds = true;
    zone.low = values[i] < zone.low ? values[i] : zone.low;
    zone.high = values[i] > zone.high ? values[i] : zone.high;
  }
  return zone.has_bounds;
}

template <typename T>
void StagedValues<T>::encode(std::span<const T> values, UsualForm form, EncodedColumn& column) {
  const uint8_t* validity = column.validity.empty() ? nullptr : column.validity.as<uint8_t>();
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>) {
    if (validity != nullptr) fill_nulls(std::span(values_.as<T>(), values.size()), validity);
    encode_integers(values, form, column);
  } else if constexpr (std::is_floating_point_v<T>) {
    set_float_bounds<T>(values, column);
    encode_plain(values, column);
  } else if constexpr (std::is_same_v<T, Interval>) {
    encode_plain(values, column);
  } else {
    bool bounded = find_bounds(values, column);
    if (!form.has_codes) return encode_plain(values, column);
    if (bounded && (column.zone.low < INT64_MIN || column.zone.high > INT64_MAX)) return encode_plain(values, column);
    std::vector<int64_t> narrow(values.size());
    for (size_t i = 0; i < values.size(); ++i) narrow[i] = static_cast<int64_t>(values[i]);
    if (validity != nullptr) fill_nulls(std::span(narrow), validity);
    encode_integers(std::span<const int64_t>(narrow), form, column);
  }
}

}  // namespace

int64_t StagedColumn::rows_that_fit(const BatchColumn&, int64_t, int64_t count) const { return count; }

std::unique_ptr<StagedColumn> make_staged_column(PhysicalType physical, int64_t capacity, Dictionary* dictionary,
                                                 int64_t heap_bytes) {
  switch (physical) {
    case PhysicalType::Bool: return std::make_unique<StagedValues<uint8_t>>(physical);
    case PhysicalType::Int32: return std::make_unique<StagedValues<int32_t>>(physical);
    case PhysicalType::Int64: return std::make_unique<StagedValues<int64_t>>(physical);
    case PhysicalType::Int128: return std::make_unique<StagedValues<int128_t>>(physical);
    case PhysicalType::Float32: return std::make_unique<StagedValues<float>>(physical);
    case PhysicalType::Float64: return std::make_unique<StagedValues<double>>(physical);
    case PhysicalType::Interval: return std::make_unique<StagedValues<Interval>>(physical);
    case PhysicalType::Text: return std::make_unique<StagedStrings>(capacity, dictionary, heap_bytes);
  }
  throw Error(SqlState::internal_error, "invariant broken: a column has a physical type");
}

}  // namespace diptych
