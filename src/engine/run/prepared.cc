#include "engine/run/prepared.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

// A bitmap of 64 KiB stays in the second-level cache.
constexpr uint64_t most_bitmap_bits = uint64_t{1} << 19;

int128_t integral_of(const Value& value) {
  return value.type().id == TypeId::Boolean ? int128_t{value.as_boolean()} : value.as_integral();
}

bool is_less_float(double a, double b) { return dk_lt_f64(a, b) != 0; }
bool is_less_interval(dk_interval a, dk_interval b) { return dk_lt_interval(a, b) != 0; }

double double_of(const Value& value) {
  return value.type().is_float() ? value.as_double() : static_cast<double>(value.as_integral());
}

}  // namespace

void store_value(const Value& value, PhysicalType physical, void* to) {
  std::memset(to, 0, static_cast<size_t>(width_bytes(physical)));
  if (value.is_null()) return;
  const auto store = [&](auto typed) { std::memcpy(to, &typed, sizeof(typed)); };
  switch (physical) {
    case PhysicalType::Bool: return store(static_cast<uint8_t>(integral_of(value) != 0));
    case PhysicalType::Int32: return store(static_cast<int32_t>(integral_of(value)));
    case PhysicalType::Int64: return store(static_cast<int64_t>(integral_of(value)));
    case PhysicalType::Int128: return store(integral_of(value));
    case PhysicalType::Float32: return store(static_cast<float>(double_of(value)));
    case PhysicalType::Float64: return store(double_of(value));
    case PhysicalType::Interval: return store(value.as_interval());
    case PhysicalType::Text: return store(dk_text_of(value.as_string()));
  }
}

PreparedSet::PreparedSet(const ValueSet& set) : has_null_(set.has_null) {
  std::vector<int64_t> wholes;
  if (set.physical == PhysicalType::Text) texts_.reserve(set.values.size());
  for (const Value& value : set.values) {
    switch (set.physical) {
      case PhysicalType::Bool: wholes.push_back(value.as_boolean()); break;
      case PhysicalType::Int32:
      case PhysicalType::Int64: {
        // A constant that the register can't hold equals none of its values.
        const int128_t whole = value.as_integral();
        if (whole >= INT64_MIN && whole <= INT64_MAX) wholes.push_back(static_cast<int64_t>(whole));
        break;
      }
      case PhysicalType::Int128: wides_.push_back(value.as_integral()); break;
      case PhysicalType::Float32: floats_.push_back(static_cast<float>(value.as_double())); break;
      case PhysicalType::Float64: floats_.push_back(value.as_double()); break;
      case PhysicalType::Interval: {
        const Interval& interval = value.as_interval();
        intervals_.push_back({interval.months, interval.days, interval.microseconds});
        break;
      }
      case PhysicalType::Text: texts_.insert(value.as_string()); break;
    }
  }
  std::sort(wides_.begin(), wides_.end());
  std::sort(floats_.begin(), floats_.end(), is_less_float);
  std::sort(intervals_.begin(), intervals_.end(), is_less_interval);
  if (!wholes.empty()) add_wholes(wholes);
}

void PreparedSet::add_wholes(const std::vector<int64_t>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const uint64_t distance = static_cast<uint64_t>(*high) - static_cast<uint64_t>(*low);
  if (distance >= most_bitmap_bits) {
    for (const int64_t value : values) wholes_.insert(value);
    return;
  }
  low_ = *low;
  bitmap_bits_ = distance + 1;
  bitmap_.resize((bitmap_bits_ + 63) / 64);
  for (const int64_t value : values) {
    const uint64_t bit = static_cast<uint64_t>(value) - static_cast<uint64_t>(low_);
    bitmap_[bit / 64] |= uint64_t{1} << (bit % 64);
  }
}

bool PreparedSet::has(int128_t value) const { return std::binary_search(wides_.begin(), wides_.end(), value); }

bool PreparedSet::has(double value) const {
  return std::binary_search(floats_.begin(), floats_.end(), value, is_less_float);
}

bool PreparedSet::has(dk_text value) const {
  return texts_.contains(value.length == 0 ? std::string_view()
                                           : std::string_view(value.data, static_cast<size_t>(value.length)));
}

bool PreparedSet::has(dk_interval value) const {
  return std::binary_search(intervals_.begin(), intervals_.end(), value, is_less_interval);
}

namespace {

PreparedLookup prepare_lookup(const LookupTable& table) {
  PreparedLookup result;
  result.physical = table.entry.physical;
  result.width = static_cast<size_t>(width_bytes(result.physical));
  result.size = table.dictionary != nullptr ? table.dictionary->size() : table.values.size();
  result.entries.resize(std::max<size_t>(result.size, 1) * result.width);
  std::memset(result.entries.data(), 0, result.entries.size());
  if (table.dictionary != nullptr) {
    for (size_t i = 0; i < result.size; ++i) {
      const std::string_view text = (*table.dictionary)[static_cast<uint32_t>(i)];
      result.entries.as<dk_text>()[i] = {text.data(), static_cast<dk_i32>(text.size())};
    }
    return result;
  }
  for (size_t i = 0; i < result.size; ++i) {
    store_value(table.values[i], result.physical, result.entries.data() + i * result.width);
    if (!table.values[i].is_null()) continue;
    result.nulls.resize(result.size);
    result.nulls[i] = true;
  }
  return result;
}

}  // namespace

PreparedObjects::PreparedObjects(const Program& program) {
  sets.reserve(program.sets.size());
  for (const ValueSet& set : program.sets) sets.emplace_back(set);
  lookups.reserve(program.lookups.size());
  for (const LookupTable& table : program.lookups) lookups.push_back(prepare_lookup(table));
}

}  // namespace diptych
