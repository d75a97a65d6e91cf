#include "engine/cpu/key_rows.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

size_t words_of(PhysicalType physical) {
  return physical == PhysicalType::Int128 || physical == PhysicalType::Interval ? 2 : 1;
}

dk_text text_of(const uint64_t* words) {
  return {reinterpret_cast<const char*>(words[0]), static_cast<dk_i32>(words[1])};
}

void store_key(dk_bool value, uint64_t* to, uint64_t*) { *to = value; }
void store_key(dk_i32 value, uint64_t* to, uint64_t*) { *to = static_cast<uint64_t>(static_cast<int64_t>(value)); }
void store_key(dk_i64 value, uint64_t* to, uint64_t*) { *to = static_cast<uint64_t>(value); }
void store_key(dk_i128 value, uint64_t* to, uint64_t*) {
  to[0] = value.lo;
  to[1] = static_cast<uint64_t>(value.hi);
}
void store_key(dk_f64 value, uint64_t* to, uint64_t*) {
  *to = value == 0 ? 0 : value != value ? DK_F64_BITS(DK_NAN_F64) : DK_F64_BITS(value);
}
void store_key(dk_f32 value, uint64_t* to, uint64_t* carried) { store_key(static_cast<dk_f64>(value), to, carried); }
void store_key(dk_interval value, uint64_t* to, uint64_t* carried) {
  store_key(dk_span_of_interval(value), to, nullptr);
  std::memcpy(carried, &value, sizeof(value));
}
void store_key(dk_text value, uint64_t* to, uint64_t*) {
  to[0] = reinterpret_cast<uint64_t>(value.length > 0 ? value.data : nullptr);
  to[1] = static_cast<uint64_t>(value.length);
}

}  // namespace

KeyLayout::KeyLayout(const std::vector<RegisterInfo>& keys) {
  const bool nullable = std::any_of(keys.begin(), keys.end(), [](const RegisterInfo& key) { return key.nullable; });
  null_words_ = nullable ? (keys.size() + 63) / 64 : 0;
  keys_.resize(keys.size());
  size_t next = null_words_;
  for (size_t i = 0; i < keys.size(); ++i) {
    keys_[i].physical = keys[i].physical;
    if (keys[i].physical == PhysicalType::Text) continue;
    keys_[i].at = next;
    next += words_of(keys[i].physical);
  }
  fixed_words_ = next;
  for (Key& key : keys_) {
    if (key.physical != PhysicalType::Text) continue;
    key.at = next;
    next += 2;
  }
  text_end_ = next;
  for (Key& key : keys_) {
    if (key.physical != PhysicalType::Interval) continue;
    key.carried = next;
    next += 2;
  }
  words_ = next;
}

template <typename T>
void KeyLayout::write_key(Frame& frame, int number, const Key& key, size_t bit, const RowMask& rows,
                          uint64_t* out) const {
  const Slot& slot = frame.read(number);
  uint64_t* row_words = out;
  for_each_row(rows.words, frame.words(), [&](int row) {
    if (slot.valid == nullptr || (slot.valid[row / 64] >> (row % 64) & 1) != 0) {
      store_key(value_at<T>(slot.values, row), row_words + key.at, row_words + key.carried);
    } else {
      row_words[bit / 64] |= uint64_t{1} << (bit % 64);
      store_key(T{}, row_words + key.at, row_words + key.carried);
    }
    row_words += words_;
  });
}

void KeyLayout::write(Frame& frame, int first, const RowMask& rows, uint64_t* out) const {
  for (size_t word = 0; word < null_words_; ++word) {
    const int count = rows.count();
    for (int i = 0; i < count; ++i) out[static_cast<size_t>(i) * words_ + word] = 0;
  }
  for (size_t i = 0; i < keys_.size(); ++i) {
    with_kernel_type(keys_[i].physical,
                     [&]<typename T>(T) { write_key<T>(frame, first + static_cast<int>(i), keys_[i], i, rows, out); });
  }
}

uint64_t KeyLayout::hash(const uint64_t* row) const {
  uint64_t hash = dk_hash_i64(static_cast<int64_t>(fixed_words_ > 0 ? row[0] : 0));
  for (size_t i = 1; i < fixed_words_; ++i) hash = dk_hash_combine(hash, row[i]);
  for (size_t i = fixed_words_; i < text_end_; i += 2) hash = dk_hash_combine(hash, dk_hash_text(text_of(row + i)));
  return hash;
}

bool KeyLayout::equal_texts(const uint64_t* a, const uint64_t* b) const {
  for (size_t i = fixed_words_; i < text_end_; i += 2) {
    if (a[i + 1] != b[i + 1]) return false;
    if (a[i + 1] > 0 && std::memcmp(text_of(a + i).data, text_of(b + i).data, a[i + 1]) != 0) return false;
  }
  return true;
}

void KeyLayout::own_texts(uint64_t* row, TextArena& arena) const {
  for (size_t i = fixed_words_; i < text_end_; i += 2) {
    if (row[i + 1] == 0) continue;
    char* place = arena.allocate(row[i + 1]);
    std::memcpy(place, text_of(row + i).data, row[i + 1]);
    row[i] = reinterpret_cast<uint64_t>(place);
  }
}

bool KeyLayout::read(const uint64_t* row, size_t number, std::byte* out) const {
  const Key& key = keys_[number];
  const uint64_t* words = row + key.at;
  const auto store = [&](auto value) { std::memcpy(out, &value, sizeof(value)); };
  switch (key.physical) {
    case PhysicalType::Bool: store(static_cast<uint8_t>(*words)); break;
    case PhysicalType::Int32: store(static_cast<int32_t>(*words)); break;
    case PhysicalType::Int64: store(*words); break;
    case PhysicalType::Int128: std::memcpy(out, words, 16); break;
    case PhysicalType::Float32: store(static_cast<float>(DK_F64_OF_BITS(*words))); break;
    case PhysicalType::Float64: store(*words); break;
    case PhysicalType::Interval: std::memcpy(out, row + key.carried, 16); break;
    case PhysicalType::Text: store(text_of(words)); break;
  }
  return null_words_ == 0 || (row[number / 64] >> (number % 64) & 1) == 0;
}

}  // namespace diptych::cpu
