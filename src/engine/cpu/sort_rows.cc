#include "engine/cpu/sort_rows.h"

#include <cstring>
#include <type_traits>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

size_t column_words(PhysicalType physical) { return (static_cast<size_t>(width_bytes(physical)) + 7) / 8; }

void normalise(dk_i64 value, uint64_t* to) { *to = dk_sort_word_i64(value); }
void normalise(dk_i32 value, uint64_t* to) { *to = dk_sort_word_i32(value); }
void normalise(dk_bool value, uint64_t* to) { *to = dk_sort_word_bool(value); }
void normalise(dk_i128 value, uint64_t* to) {
  to[0] = dk_sort_high_i128(value);
  to[1] = dk_sort_low_i128(value);
}
void normalise(dk_interval value, uint64_t* to) { normalise(dk_span_of_interval(value), to); }
void normalise(dk_f64 value, uint64_t* to) { *to = dk_sort_word_f64(value); }
void normalise(dk_f32 value, uint64_t* to) { *to = dk_sort_word_f32(value); }
void normalise(dk_text value, uint64_t* to) { *to = dk_sort_word_text(value); }

dk_text text_at(const uint64_t* words) {
  dk_text text;
  std::memcpy(&text, words, sizeof(text));
  return text;
}

// Of a string, those that its steps look at, but for the first word.
constexpr int32_t step_bytes = 32, word_bytes = 8;

int64_t whole(dk_i128 value) { return static_cast<int64_t>(value.lo); }
int64_t whole(int64_t value) { return value; }

bool is_valid(const Slot& slot, int row) {
  return slot.valid == nullptr || (slot.valid[row / 64] >> (row % 64) & 1) != 0;
}

}  // namespace

SortLayout::SortLayout(const RowSetInfo& info) {
  const SortKeyLayout layout(info);
  for (const SortKeyPlace& place : layout.keys) {
    keys_.push_back({place});
    has_text_keys_ |= place.physical == PhysicalType::Text;
  }
  size_t next = layout.words;
  second_decides_ = keys_.empty() || keys_.front().physical != PhysicalType::Text || keys_.front().nullable;
  order_ = next++;
  nulls_ = next;
  null_words_ = (info.columns.size() + 63) / 64;
  next += null_words_;
  for (const RegisterInfo& column : info.columns) {
    columns_.push_back({column.physical, next});
    if (columns_.size() <= keys_.size()) keys_[columns_.size() - 1].raw = next;
    next += column_words(column.physical);
    has_texts_ |= column.physical == PhysicalType::Text;
  }
  words_ = next;
  add_steps();
}

void SortLayout::add_steps() {
  for (const Key& key : keys_) {
    if (key.bits > 0 && !key.starts_word) continue;
    for (size_t at = key.at; at < key.end(); ++at) steps_.push_back({Step::Kind::Word, false, at, 0});
    if (key.physical != PhysicalType::Text) continue;
    for (int32_t offset = word_bytes; offset < step_bytes; offset += word_bytes)
      steps_.push_back({Step::Kind::Bytes, key.descending, key.raw, offset});
    steps_.push_back({Step::Kind::Length, key.descending, key.raw, 0});
  }
  steps_.push_back({Step::Kind::Word, false, order_, 0});
}

std::optional<uint64_t> SortLayout::load_step(std::span<SortEntry> entries, size_t step,
                                              const ExecutionContext& context) const {
  const Step& what = steps_[step];
  const uint64_t flip = what.descending ? ~uint64_t{0} : 0;
  const auto text = [&](const SortEntry& entry) { return text_at(entry.row + what.at); };
  const auto goes_on = [&](const SortEntry& entry) { return text(entry).length > step_bytes; };
  switch (what.kind) {
    case Step::Kind::Word:
      return set_first_words(entries, context, [&](const SortEntry& entry) { return entry.row[what.at]; });
    case Step::Kind::Bytes:
      return set_first_words(entries, context,
                             [&](const SortEntry& entry) { return dk_text_word(text(entry), what.offset) ^ flip; });
    case Step::Kind::Length: break;
  }
  if (std::any_of(entries.begin(), entries.end(), goes_on)) return std::nullopt;
  return set_first_words(entries, context,
                         [&](const SortEntry& entry) { return static_cast<uint64_t>(text(entry).length) ^ flip; });
}

// Shifts the key into the word that it shares with the keys before it.
template <typename T>
void SortLayout::write_packed_key(const Slot& slot, const Key& key, const Place& place) const {
  uint64_t* to = place.out + key.at;
  for (const int row : place.rows) {
    const uint64_t code = dk_sort_code(is_valid(slot, row), whole(value_at<T>(slot.values, row)), key.descending,
                                       key.first_value, key.first_code, key.null_code);
    *to = key.starts_word ? code : *to << key.bits | code;
    to += place.words;
  }
}

template <typename T>
void SortLayout::write_key(const Slot& slot, const Key& key, const Place& place) const {
  const uint64_t flip = key.descending ? ~uint64_t{0} : 0;
  uint64_t* row_words = place.out + key.at;
  for (const int row : place.rows) {
    uint64_t* to = row_words;
    const bool valid = is_valid(slot, row);
    // NULLs come last unless they are asked for first, whichever way the values are sorted.
    if (key.nullable) *to++ = valid == key.nulls_first ? 1 : 0;
    if (valid)
      normalise(value_at<T>(slot.values, row), to);
    else
      std::memset(to, 0, key.words * 8);
    for (size_t i = 0; i < key.words; ++i) to[i] ^= flip;
    row_words += place.words;
  }
}

template <typename T>
void SortLayout::write_column(const Slot& slot, size_t number, const Place& place) const {
  const size_t null_at = nulls_ + number / 64;
  uint64_t* row_words = place.out;
  for (const int row : place.rows) {
    T value{};
    if (is_valid(slot, row))
      value = value_at<T>(slot.values, row);
    else
      row_words[null_at] |= uint64_t{1} << (number % 64);
    std::memcpy(row_words + columns_[number].at, &value, sizeof(T));
    row_words += place.words;
  }
}

void SortLayout::write_key(Frame& frame, int first, size_t number, const Place& place) const {
  const Key& key = keys_[number];
  const Slot& slot = frame.read(first + static_cast<int>(number));
  with_kernel_type(columns_[number].physical, [&]<typename T>(T) {
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, dk_i128>) {
      if (key.bits > 0) return write_packed_key<T>(slot, key, place);
    }
    write_key<T>(slot, key, place);
  });
}

void SortLayout::write_order(const Frame& frame, const Place& place) const {
  uint64_t* order = place.out + order_;
  for (const int row : place.rows) {
    *order = static_cast<uint64_t>(frame.order + row);
    order += place.words;
  }
}

void SortLayout::write_key_word(Frame& frame, int first, std::span<const uint16_t> rows, size_t number,
                                uint64_t* out) const {
  const Place place{rows, out, key_words()};
  if (number == order_) return write_order(frame, place);
  for (size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i].at <= number && number < keys_[i].end()) write_key(frame, first, i, place);
}

void SortLayout::write(Frame& frame, int first, std::span<const uint16_t> rows, uint64_t* out) const {
  const Place place{rows, out, words_};
  write_order(frame, place);
  for (size_t i = 0; i < keys_.size(); ++i) write_key(frame, first, i, place);
  uint64_t* nulls = out + nulls_;
  for (size_t i = 0; i < rows.size(); ++i, nulls += words_) std::memset(nulls, 0, null_words_ * 8);
  for (size_t i = 0; i < columns_.size(); ++i) {
    const Slot& slot = frame.read(first + static_cast<int>(i));
    with_kernel_type(columns_[i].physical, [&]<typename T>(T) { write_column<T>(slot, i, place); });
  }
}

int SortLayout::compare_text(const Key& key, const uint64_t* a, const uint64_t* b) const {
  const dk_text x = text_at(a + key.raw), y = text_at(b + key.raw);
  const int order = dk_cmp_text(x, y);
  return key.descending ? -order : order;
}

bool SortLayout::before(const uint64_t* a, const uint64_t* b) const {
  if (!has_text_keys_) {
    for (size_t i = 0; i <= order_; ++i) {
      if (a[i] != b[i]) return a[i] < b[i];
    }
    return false;
  }
  for (const Key& key : keys_) {
    for (size_t i = key.at; i < key.end(); ++i) {
      if (a[i] != b[i]) return a[i] < b[i];
    }
    if (key.physical != PhysicalType::Text) continue;
    const int order = compare_text(key, a, b);
    if (order != 0) return order < 0;
  }
  return a[order_] < b[order_];
}

void SortLayout::own_texts(uint64_t* row, TextArena& arena) const {
  for (const Column& column : columns_) {
    if (column.physical != PhysicalType::Text) continue;
    dk_text text = text_at(row + column.at);
    if (text.length == 0) continue;
    char* place = arena.allocate(static_cast<size_t>(text.length));
    std::memcpy(place, text.data, static_cast<size_t>(text.length));
    text.data = place;
    std::memcpy(row + column.at, &text, sizeof(text));
  }
}

size_t SortLayout::packed_bytes(const uint64_t* row) const {
  size_t bytes = 0;
  if (has_texts_) {
    for (const Column& column : columns_) {
      if (column.physical == PhysicalType::Text) bytes += static_cast<size_t>(text_at(row + column.at).length);
    }
  }
  return words_ * 8 + (bytes + 7) / 8 * 8;
}

void SortLayout::pack(const uint64_t* row, size_t packed_bytes, uint64_t* to) const {
  // The last word may have bytes that no string fills.
  to[packed_bytes / 8 - 1] = 0;
  std::memcpy(to, row, words_ * 8);
  if (!has_texts_) return;
  auto* place = reinterpret_cast<char*>(to + words_);
  for (const Column& column : columns_) {
    if (column.physical != PhysicalType::Text) continue;
    const dk_text text = text_at(row + column.at);
    if (text.length > 0) std::memcpy(place, text.data, static_cast<size_t>(text.length));
    place += text.length;
  }
}

void SortLayout::unpack(uint64_t* row) const {
  if (!has_texts_) return;
  auto* place = reinterpret_cast<char*>(row + words_);
  for (const Column& column : columns_) {
    if (column.physical != PhysicalType::Text) continue;
    dk_text text = text_at(row + column.at);
    text.data = place;
    std::memcpy(row + column.at, &text, sizeof(text));
    place += text.length;
  }
}

bool SortLayout::read(const uint64_t* row, size_t column, std::byte* out) const {
  const uint64_t* from = row + columns_[column].at;
  switch (columns_[column].physical) {
    case PhysicalType::Bool: std::memcpy(out, from, 1); break;
    case PhysicalType::Int32:
    case PhysicalType::Float32: std::memcpy(out, from, 4); break;
    case PhysicalType::Int64:
    case PhysicalType::Float64: std::memcpy(out, from, 8); break;
    default: std::memcpy(out, from, 16);
  }
  return (row[nulls_ + column / 64] >> (column % 64) & 1) == 0;
}

}  // namespace diptych::cpu
