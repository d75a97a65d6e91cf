#include "storage/key_checker.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "storage/row_decoder.h"
#include "tablet/values.h"

namespace diptych {
namespace {

// An unordered_set node with a short string: node, string, bucket.
constexpr int64_t bytes_per_string_key = 80;
constexpr int64_t bytes_per_integer_key = 32;  // while the set grows

bool fits_int64(PhysicalType type) { return type == PhysicalType::Int32 || type == PhysicalType::Int64; }

int64_t load_integer(const BatchColumn& column, int64_t row) {
  if (column.physical == PhysicalType::Int32) return static_cast<const int32_t*>(column.values)[row];
  return static_cast<const int64_t*>(column.values)[row];
}

// A batch's column as a view; for strings given as codes, of the dictionary.
ColumnView view_of(const BatchColumn& column) {
  ColumnView view;
  view.physical = column.physical;
  view.encoding = column.physical == PhysicalType::Text ? Encoding::Heap : Encoding::Plain;
  view.data = static_cast<const std::byte*>(column.values);
  view.offsets = column.offsets;
  view.heap = column.bytes;
  if (column.dictionary == nullptr) return view;
  view.encoding = Encoding::Dictionary;
  view.data = reinterpret_cast<const std::byte*>(column.codes);
  view.width = sizeof(*column.codes);
  view.dictionary = column.dictionary;
  return view;
}

// Equal values of equal types give equal bytes, and no value's bytes are the beginning of another's.
void append_key_bytes(std::string& bytes, const Value& value) {
  auto append = [&](const auto& part) { bytes.append(reinterpret_cast<const char*>(&part), sizeof part); };
  switch (value.type().physical()) {
    case PhysicalType::Bool: append(static_cast<int128_t>(value.as_boolean())); break;
    case PhysicalType::Int32:
    case PhysicalType::Int64:
    case PhysicalType::Int128: append(value.as_integral()); break;
    case PhysicalType::Float32:
    case PhysicalType::Float64: {
      double number = value.as_double();
      if (std::isnan(number)) number = std::numeric_limits<double>::quiet_NaN();
      append(number == 0 ? 0.0 : number);
      break;
    }
    case PhysicalType::Interval: {
      const Interval& interval = value.as_interval();
      append((int128_t{interval.months} * 30 + interval.days) * 86'400'000'000 + interval.microseconds);
      break;
    }
    case PhysicalType::Text:
      append(value.as_string().size());
      bytes += value.as_string();
      break;
  }
}

std::string key_bytes(const std::vector<Value>& key) {
  std::string bytes;
  for (const Value& value : key) append_key_bytes(bytes, value);
  return bytes;
}

}  // namespace

KeyChecker::KeyChecker(const TabletStorage& storage, const TableState& state)
    : storage_(storage),
      state_(state),
      key_(state.definition.primary_key),
      is_integer_(key_.size() == 1 && fits_int64(state.definition.columns[key_[0]].type.physical())),
      rows_(state.directory.live_rows()),
      memory_(storage.budget, "keys being checked") {
  int64_t share = storage.budget.limit() / 8 / (is_integer_ ? bytes_per_integer_key : bytes_per_string_key);
  most_keys_ = static_cast<size_t>(std::clamp<int64_t>(share, 1 << 16, 1 << 23));
  if (!is_integer_) return;
  for (size_t tablet = 0; tablet < state.directory.size(); ++tablet) {
    const ZoneMap& zone = state.directory[tablet].tablet->zone_map(key_[0]);
    int64_t high = zone.has_bounds ? static_cast<int64_t>(zone.high) : std::numeric_limits<int64_t>::max();
    greatest_ = std::max(greatest_.value_or(high), high);
  }
}

bool KeyChecker::add(const RowBatch& batch) {
  if (is_integer_) {
    add_integers(batch.columns[key_[0]], batch.rows);
  } else {
    add_bytes(batch);
  }
  rows_ += batch.rows;
  return integers_.size() + bytes_.size() >= most_keys_;
}

void KeyChecker::add_integers(const BatchColumn& column, int64_t rows) {
  int64_t row = 0;
  for (; row < rows && set_begin_ < 0; ++row) {
    int64_t key = load_integer(column, row);
    if (greatest_ && key <= *greatest_) {
      begin_set(row);
      break;
    }
    greatest_ = key;
  }
  for (; row < rows; ++row) insert_integer(load_integer(column, row));
}

void KeyChecker::begin_set(int64_t row) { set_begin_ = rows_ + row; }

void KeyChecker::insert_integer(int64_t key) {
  if (int64_t needed = integers_.bytes_after_insert(); needed > memory_.bytes()) memory_.grow(needed - memory_.bytes());
  if (!integers_.insert(key)) fail({Value::integral(state_.definition.columns[key_[0]].type, key)});
  set_low_ = std::min(set_low_, key);
  set_high_ = std::max(set_high_, key);
  greatest_ = std::max(greatest_.value_or(key), key);
}

void KeyChecker::add_bytes(const RowBatch& batch) {
  if (set_begin_ < 0) begin_set(0);
  std::vector<Value> key(key_.size());
  for (int64_t row = 0; row < batch.rows; ++row) {
    for (size_t i = 0; i < key_.size(); ++i) {
      const BatchColumn& column = batch.columns[key_[i]];
      const bool has_entries = column.codes != nullptr && column.dictionary == nullptr;
      const int64_t at = has_entries ? column.codes[row] : row;
      key[i] = value_at(view_of(column), state_.definition.columns[key_[i]].type, at);
    }
    std::string bytes = key_bytes(key);
    memory_.grow(bytes_per_string_key + static_cast<int64_t>(bytes.size()));
    if (!bytes_.insert(std::move(bytes)).second) fail(key);
  }
}

void KeyChecker::check() {
  if (set_begin_ >= 0) {
    // Fragments may have been written anew, without deleted rows and with the new ones behind the others.
    int64_t left = set_begin_;
    for (size_t tablet = 0; left > 0; ++tablet) {
      const TabletDirectory::Entry entry = state_.directory[tablet];
      const VisibilityMask* mask = entry.mask.get();
      const int64_t rows = mask != nullptr ? entry.tablet->rows() : std::min(entry.tablet->rows(), left);
      left -= mask != nullptr ? mask->live_rows() : rows;
      if (!may_overlap(*entry.tablet)) continue;
      storage_.view(state_, tablet, key_, [&](std::span<const ColumnView> views) { check_rows(views, rows, mask); });
    }
  }
  set_begin_ = -1;
  set_low_ = std::numeric_limits<int64_t>::max();
  set_high_ = std::numeric_limits<int64_t>::min();
  integers_.clear();
  bytes_.clear();
  memory_.shrink(memory_.bytes());
}

bool KeyChecker::may_overlap(const StoredTablet& tablet) const {
  if (!is_integer_) return true;
  const ZoneMap& zone = tablet.zone_map(key_[0]);
  return !zone.has_bounds || (zone.low <= set_high_ && zone.high >= set_low_);
}

void KeyChecker::check_rows(std::span<const ColumnView> views, int64_t rows, const VisibilityMask* mask) const {
  const auto is_there = [mask](int64_t row) { return mask == nullptr || mask->is_live(row); };
  for (int64_t row = 0; row < rows; ++row) {
    if (is_integer_) {
      int64_t key = integer_at(views[0], row);
      if (key < set_low_ || key > set_high_ || !integers_.contains(key) || !is_there(row)) continue;
      fail(key_values(views, row));
    }
    if (!is_there(row)) continue;
    std::vector<Value> key = key_values(views, row);
    if (bytes_.count(key_bytes(key)) != 0) fail(key);
  }
}

std::vector<Value> KeyChecker::key_values(std::span<const ColumnView> views, int64_t row) const {
  std::vector<Value> key;
  for (size_t i = 0; i < key_.size(); ++i)
    key.push_back(value_at(views[i], state_.definition.columns[key_[i]].type, row));
  return key;
}

void KeyChecker::fail(const std::vector<Value>& key) const {
  std::string names, values;
  for (size_t i = 0; i < key_.size(); ++i) {
    names += (i ? ", " : "") + state_.definition.columns[key_[i]].name;
    values += (i ? ", " : "") + key[i].to_text();
  }
  throw Error(SqlState::unique_violation, "duplicate key value violates the primary key of table \"" +
                                              state_.definition.name + "\": key (" + names + ")=(" + values +
                                              ") already exists");
}

}  // namespace diptych
