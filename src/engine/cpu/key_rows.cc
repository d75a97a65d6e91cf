#include "engine/cpu/key_rows.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/row_function.h"

namespace diptych::cpu {
namespace {

size_t words_of(PhysicalType physical) {
  return physical == PhysicalType::Int128 || physical == PhysicalType::Interval ? 2 : 1;
}

template <typename Word>
Word load(const void* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// The bytes of a text, of which there are up to 12, as the lowest ones of two numbers, little-endian. Loads that
// overlap are faster than a loop.
struct ShortBytes {
  uint64_t first = 0, last = 0;
};
ShortBytes short_bytes(const char* data, size_t length) {
  if (length > 8) return {load<uint64_t>(data), load<uint64_t>(data + length - 8) >> (8 * (16 - length))};
  if (length == 8) return {load<uint64_t>(data), 0};
  if (length >= 4) return {load<uint32_t>(data) | uint64_t{load<uint32_t>(data + length - 4)} << (8 * (length - 4)), 0};
  uint64_t word = 0;
  for (size_t i = 0; i < length; ++i) word |= uint64_t{static_cast<uint8_t>(data[i])} << (8 * i);
  return {word, 0};
}

const char* address_of(const uint64_t* words) { return reinterpret_cast<const char*>(words[1]); }

// Of more bytes than a word has: the last load overlaps the one before.
uint64_t hash_long_text(uint64_t hash, const char* data, size_t length) {
  size_t at = 0;
  for (; at + 8 < length; at += 8) {
    hash = (hash ^ load<uint64_t>(data + at)) * DK_U64(0xC6A4A7935BD1E995);
    hash ^= hash >> 47;
  }
  return dk_hash_combine(hash, load<uint64_t>(data + length - 8));
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

// The lower half is written first.
template <typename T>
void store_half(T value, bool is_high, uint64_t* to) {
  const auto bits = static_cast<uint64_t>(static_cast<uint32_t>(value));
  *to = is_high ? *to | bits << 32 : bits;
}

void store_key(dk_text value, uint64_t* to, uint64_t*) {
  const auto length = static_cast<size_t>(value.length);
  if (length <= KeyLayout::most_short_bytes) {
    const ShortBytes bytes = short_bytes(value.data, length);
    to[0] = length | bytes.first << 32;
    to[1] = bytes.first >> 32 | bytes.last << 32;
  } else {
    to[0] = length | uint64_t{load<uint32_t>(value.data)} << 32;
    to[1] = reinterpret_cast<uint64_t>(value.data);
  }
}

// Of rows of so many words, all of them compared.
template <size_t words>
void hash_words(const uint64_t* rows, size_t count, uint64_t* hashes) {
  for (size_t i = 0; i < count; ++i, rows += words) {
    uint64_t hash = dk_hash_i64(static_cast<int64_t>(rows[0]));
    for (size_t word = 1; word < words; ++word) hash = dk_hash_combine(hash, rows[word]);
    hashes[i] = hash;
  }
}

}  // namespace

KeyLayout::KeyLayout(const std::vector<RegisterInfo>& keys) {
  const bool nullable = std::any_of(keys.begin(), keys.end(), [](const RegisterInfo& key) { return key.nullable; });
  null_words_ = nullable ? (keys.size() + 63) / 64 : 0;
  keys_.resize(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) keys_[i].physical = keys[i].physical;
  pair_halves();
  size_t next = null_words_;
  for (Key& key : keys_) {
    if (key.physical == PhysicalType::Text || key.is_half) continue;
    key.at = next;
    next += words_of(key.physical);
  }
  for (Key& key : keys_) {
    if (!key.is_half) continue;
    key.at = next;
    if (key.is_high) ++next;
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
  is_narrow_ = words_ == 1 && keys.size() == 1 &&
               (keys[0].physical == PhysicalType::Int32 || keys[0].physical == PhysicalType::Bool);
}

void KeyLayout::pair_halves() {
  Key* low = nullptr;
  for (Key& key : keys_) {
    if (key.physical != PhysicalType::Int32 && key.physical != PhysicalType::Bool) continue;
    if (low != nullptr) {
      low->is_half = key.is_half = key.is_high = true;
      low = nullptr;
    } else {
      low = &key;
    }
  }
}

void KeyLayout::clear_nulls(const RowMask& rows, uint64_t* out) const {
  for (size_t word = 0; word < null_words_; ++word) {
    const int count = rows.count();
    for (int i = 0; i < count; ++i) out[static_cast<size_t>(i) * words_ + word] = 0;
  }
}

void KeyLayout::write_key(const KeyColumn& column, int words, size_t number, const RowMask& rows, uint64_t* out) const {
  const Key& key = keys_[number];
  const auto write_all = [&]<typename T>(T, auto&& store) {
    uint64_t* row_words = out;
    for_each_row(rows.words, words, [&](int row) {
      if (column.valid == nullptr || (column.valid[row / 64] >> (row % 64) & 1) != 0) {
        store(value_at<T>(column.values, row), row_words);
      } else {
        row_words[number / 64] |= uint64_t{1} << (number % 64);
        store(T{}, row_words);
      }
      row_words += words_;
    });
  };
  if (key.is_half) {
    const auto store = [&](auto value, uint64_t* row) { store_half(value, key.is_high, row + key.at); };
    return key.physical == PhysicalType::Bool ? write_all(dk_bool{}, store) : write_all(dk_i32{}, store);
  }
  with_kernel_type(key.physical, [&]<typename T>(T type) {
    write_all(type, [&](T value, uint64_t* row) { store_key(value, row + key.at, row + key.carried); });
  });
}

void KeyLayout::write(Frame& frame, int first, const RowMask& rows, uint64_t* out) const {
  clear_nulls(rows, out);
  for (size_t i = 0; i < keys_.size(); ++i) {
    const Slot& slot = frame.read(first + static_cast<int>(i));
    write_key({slot.values, slot.valid}, frame.words(), i, rows, out);
  }
}

void KeyLayout::write(std::span<const KeyColumn> columns, int words, const RowMask& rows, uint64_t* out) const {
  clear_nulls(rows, out);
  for (size_t i = 0; i < keys_.size(); ++i) write_key(columns[i], words, i, rows, out);
}

uint64_t KeyLayout::hash(const uint64_t* row) const {
  uint64_t hash = dk_hash_i64(static_cast<int64_t>(fixed_words_ > 0 ? row[0] : 0));
  for (size_t i = 1; i < fixed_words_; ++i) hash = dk_hash_combine(hash, row[i]);
  for (size_t i = fixed_words_; i < text_end_; i += 2) {
    const uint64_t length = text_length(row[i]);
    hash = dk_hash_combine(hash, row[i]);
    hash = length <= most_short_bytes ? dk_hash_combine(hash, row[i + 1])
                                      : hash_long_text(hash, address_of(row + i), length);
  }
  return hash;
}

void KeyLayout::hash_rows(const uint64_t* rows, size_t count, uint64_t* hashes) const {
  switch (has_texts() || words_ != fixed_words_ ? 0 : words_) {
    case 1: return hash_words<1>(rows, count, hashes);
    case 2: return hash_words<2>(rows, count, hashes);
    case 3: return hash_words<3>(rows, count, hashes);
    case 4: return hash_words<4>(rows, count, hashes);
    default:
      for (size_t i = 0; i < count; ++i) hashes[i] = hash(rows + i * words_);
  }
}

bool KeyLayout::equal_long_texts(const uint64_t* a, const uint64_t* b) {
  return std::memcmp(address_of(a), address_of(b), text_length(a[0])) == 0;
}

void KeyLayout::own_texts(uint64_t* row, TextArena& arena) const {
  for_each_text(row, [&](uint64_t& address, uint64_t length) {
    char* place = arena.allocate(length);
    std::memcpy(place, reinterpret_cast<const char*>(address), length);
    address = reinterpret_cast<uint64_t>(place);
  });
}

bool KeyLayout::read_column(const uint64_t* rows, std::span<const uint32_t> wanted, size_t number, std::byte* out,
                            uint64_t* valid) const {
  const Key& key = keys_[number];
  const auto read_all = [&](auto&& read) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const auto value = read(rows + wanted[i] * words_);
      std::memcpy(out + i * sizeof(value), &value, sizeof(value));
    }
  };
  const size_t at = key.at;
  const int shift = key.is_high ? 32 : 0;
  switch (key.physical) {
    case PhysicalType::Bool:
      read_all([=](const uint64_t* row) { return static_cast<uint8_t>(row[at] >> shift); });
      break;
    case PhysicalType::Int32:
      read_all([=](const uint64_t* row) { return static_cast<int32_t>(row[at] >> shift); });
      break;
    case PhysicalType::Int64:
    case PhysicalType::Float64: read_all([=](const uint64_t* row) { return row[at]; }); break;
    case PhysicalType::Int128: read_all([=](const uint64_t* row) { return load<dk_i128>(row + at); }); break;
    case PhysicalType::Float32:
      read_all([=](const uint64_t* row) { return static_cast<float>(DK_F64_OF_BITS(row[at])); });
      break;
    case PhysicalType::Interval:
      read_all([carried = key.carried](const uint64_t* row) { return load<dk_interval>(row + carried); });
      break;
    case PhysicalType::Text:
      read_all([=](const uint64_t* row) {
        const uint64_t length = text_length(row[at]);
        const char* in_row = reinterpret_cast<const char*>(row + at) + sizeof(uint32_t);
        return dk_text{length <= most_short_bytes ? in_row : address_of(row + at), static_cast<dk_i32>(length)};
      });
      break;
  }
  if (null_words_ == 0) return false;
  bool nulls = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const bool is_null = (rows[wanted[i] * words_ + number / 64] >> (number % 64) & 1) != 0;
    valid[i / 64] &= ~(uint64_t{is_null} << (i % 64));
    nulls |= is_null;
  }
  return nulls;
}

}  // namespace diptych::cpu
