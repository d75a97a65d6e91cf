#include "tablet/encoding/staged_strings.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/error.h"
#include "tablet/cells.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

// A tablet may bring a quarter of its rows as new strings before they are taken not to repeat; small dictionaries may
// always grow to this many.
constexpr int64_t always_allowed_strings = 256;

// After a tablet whose strings did not repeat, so many tablets go to the heap unasked: numbering strings that don't
// repeat costs more than copying them.
constexpr int skipped_tablets = 15;

constexpr uint64_t no_dictionary = 0;

int64_t allowed_new_strings(int64_t rows, int64_t known) { return std::max(rows / 4, always_allowed_strings - known); }

}  // namespace

StagedStrings::StagedStrings(int64_t capacity, Dictionary* dictionary, int64_t heap_bytes)
    : capacity_(capacity), heap_bytes_(heap_bytes), dictionary_(dictionary), numbering_(dictionary != nullptr) {}

int64_t StagedStrings::rows_that_fit(const BatchColumn& column, int64_t first, int64_t count) const {
  int64_t room = heap_bytes_ - static_cast<int64_t>(heap_.size());
  if (column.codes == nullptr && column.offsets[first + count] - column.offsets[first] <= room) return count;
  if (column.dictionary != nullptr && count * Dictionary::max_string_bytes <= room) return count;
  for (int64_t i = 0; i < count; ++i) {
    if (column.is_null(first + i)) continue;
    size_t bytes = string_at(column, first + i).size();
    if (bytes >= most_string_bytes) throw Error(SqlState::program_limit_exceeded, "a string is 1 GiB long or longer");
    bool alone = heap_.empty() && i == 0;
    room -= static_cast<int64_t>(bytes);
    if (room < 0 && !alone) return i;
  }
  return count;
}

void StagedStrings::append(const BatchColumn& column, int64_t first, int64_t count) {
  int64_t numbered = 0;
  if (numbering_) {
    numbered = append_numbered(column, first, count);
    if (numbered < count) {
      validity_.append(column.validity, column.validity_offset + first, numbered);
      give_up_numbers();
      append_to_heap(column, first + numbered, count - numbered);
      validity_.append(column.validity, column.validity_offset + first + numbered, count - numbered);
      return;
    }
  } else {
    append_to_heap(column, first, count);
  }
  validity_.append(column.validity, column.validity_offset + first, count);
}

int64_t StagedStrings::append_numbered(const BatchColumn& column, int64_t first, int64_t count) {
  if (validity_.rows() == 0) has_codes_ = column.dictionary == dictionary_;
  if (has_codes_ && column.dictionary == dictionary_) return append_codes(column, first, count);
  if (has_codes_ && !number_codes()) return 0;
  return column.codes != nullptr ? append_translated(column, first, count) : append_numbers(column, first, count);
}

uint32_t* StagedStrings::more_rows(int64_t count) {
  const auto rows = static_cast<size_t>(validity_.rows());
  numbered_rows_.resize((rows + static_cast<size_t>(count)) * sizeof(uint32_t));
  return numbered_rows_.as<uint32_t>() + rows;
}

int64_t StagedStrings::append_codes(const BatchColumn& column, int64_t first, int64_t count) {
  uint32_t* codes = more_rows(count);
  std::memcpy(codes, column.codes + first, static_cast<size_t>(count) * sizeof(uint32_t));
  if (column.validity == nullptr) return count;
  for (int64_t i = 0; i < count; ++i) codes[i] = column.is_null(first + i) ? 0 : codes[i];
  return count;
}

bool StagedStrings::number_codes() {
  const uint32_t* codes = numbered_rows_.as<uint32_t>();
  std::vector<uint32_t> numbers(static_cast<size_t>(validity_.rows()));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!is_valid(validity_.bits(), static_cast<int64_t>(i))) continue;
    const int64_t number = number_of((*dictionary_)[codes[i]]);
    if (number < 0) return false;
    numbers[i] = static_cast<uint32_t>(number);
  }
  std::copy(numbers.begin(), numbers.end(), numbered_rows_.as<uint32_t>());
  has_codes_ = false;
  return true;
}

int64_t StagedStrings::number_of(std::string_view text) {
  if (text.size() > Dictionary::max_string_bytes) return -1;
  uint32_t number = numbers_.number(text);
  int64_t known = static_cast<int64_t>(codes_.size());
  if (number >= codes_.size() && number - known >= allowed_new_strings(capacity_, known)) return -1;
  return number;
}

int64_t StagedStrings::append_numbers(const BatchColumn& column, int64_t first, int64_t count) {
  uint32_t* numbers = more_rows(count);
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] = 0;
    if (column.is_null(first + i)) continue;
    int64_t number = number_of(string_at(column, first + i));
    if (number < 0) return i;
    numbers[i] = static_cast<uint32_t>(number);
  }
  return count;
}

int64_t StagedStrings::append_translated(const BatchColumn& column, int64_t first, int64_t count) {
  uint32_t* numbers = more_rows(count);
  constexpr int64_t unknown = -2;
  const uint64_t translated = column.dictionary != nullptr ? column.dictionary->id() : no_dictionary;
  if (translated == no_dictionary || translated != translated_) translation_.clear();
  translated_ = translated;
  for (int64_t i = 0; i < count; ++i) {
    numbers[i] = 0;
    if (column.is_null(first + i)) continue;
    size_t code = static_cast<size_t>(column.codes[first + i]);
    if (code >= translation_.size()) translation_.resize(code + 1, unknown);
    if (translation_[code] == unknown) translation_[code] = number_of(entry_of(column, static_cast<int64_t>(code)));
    if (translation_[code] < 0) return i;
    numbers[i] = static_cast<uint32_t>(translation_[code]);
  }
  return count;
}

void StagedStrings::give_up_numbers() {
  int64_t rows = validity_.rows();
  const uint32_t* numbers = numbered_rows_.as<uint32_t>();
  for (int64_t i = 0; i < rows; ++i) {
    if (!is_valid(validity_.bits(), i))
      push_to_heap({});
    else
      push_to_heap(has_codes_ ? (*dictionary_)[numbers[i]] : numbers_[numbers[i]]);
  }
  numbered_rows_.resize(0);
  has_codes_ = false;
  numbers_.clear();
  translation_.clear();
  codes_.clear();
  numbering_ = false;
  tablets_to_skip_ = skipped_tablets;
}

void StagedStrings::push_to_heap(std::string_view text) {
  size_t end = heap_.size();
  heap_.resize(end + text.size());
  if (!text.empty()) std::memcpy(heap_.data() + end, text.data(), text.size());
  size_t entries = offsets_.size() / sizeof(uint32_t);
  offsets_.resize((entries + 1) * sizeof(uint32_t));
  offsets_.as<uint32_t>()[entries] = static_cast<uint32_t>(end);
}

void StagedStrings::append_to_heap(const BatchColumn& column, int64_t first, int64_t count) {
  if (column.codes == nullptr && column.validity == nullptr) return append_block_to_heap(column, first, count);
  for (int64_t i = 0; i < count; ++i) {
    push_to_heap(column.is_null(first + i) ? std::string_view() : string_at(column, first + i));
  }
}

void StagedStrings::append_block_to_heap(const BatchColumn& column, int64_t first, int64_t count) {
  if (count == 0) return;
  uint32_t start = column.offsets[first];
  size_t bytes = column.offsets[first + count] - start;
  size_t end = heap_.size();
  heap_.resize(end + bytes);
  if (bytes > 0) std::memcpy(heap_.data() + end, column.bytes + start, bytes);
  size_t entries = offsets_.size() / sizeof(uint32_t);
  offsets_.resize((entries + static_cast<size_t>(count)) * sizeof(uint32_t));
  uint32_t* offsets = offsets_.as<uint32_t>() + entries;
  uint32_t shift = static_cast<uint32_t>(end) - start;
  for (int64_t i = 0; i < count; ++i) offsets[i] = column.offsets[first + i] + shift;
}

bool StagedStrings::translate_numbers() {
  int64_t known = static_cast<int64_t>(codes_.size());
  if (numbers_.size() - known > allowed_new_strings(validity_.rows(), known)) return false;
  for (uint32_t number = static_cast<uint32_t>(known); number < numbers_.size(); ++number) {
    std::optional<uint32_t> code = dictionary_->find_or_append(numbers_[number]);
    if (!code) return false;
    codes_.push_back(*code);
  }
  return true;
}

void StagedStrings::look_up_codes() {
  const std::span<uint32_t> rows(numbered_rows_.as<uint32_t>(), numbered_rows_.size() / sizeof(uint32_t));
  const uint8_t* validity = validity_.bits();
  if (numbers_.size() == 0) {  // every row is null
    std::ranges::fill(rows, 0);
  } else if (validity == nullptr) {
    for (uint32_t& row : rows) row = codes_[row];
  } else {
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = is_valid(validity, static_cast<int64_t>(i)) ? codes_[rows[i]] : 0;
  }
}

void StagedStrings::write_codes(UsualForm form, EncodedColumn& column) {
  if (!has_codes_) look_up_codes();
  const std::span<const uint32_t> codes(numbered_rows_.as<uint32_t>(), numbered_rows_.size() / sizeof(uint32_t));
  uint32_t any = 0;
  for (const uint32_t code : codes) any |= code;
  column.encoding = Encoding::Dictionary;
  column.dictionary = dictionary_;
  column.width = any <= 0xFF && form.width < 2 ? 1 : 2;
  column.data.resize(codes.size() * column.width);
  if (column.width == 1) {
    std::copy(codes.begin(), codes.end(), column.data.as<uint8_t>());
  } else {
    std::copy(codes.begin(), codes.end(), column.data.as<uint16_t>());
  }
  numbered_rows_.resize(0);
  has_codes_ = false;
}

EncodedColumn StagedStrings::finish(UsualForm form) {
  EncodedColumn column;
  column.physical = PhysicalType::Text;
  column.zone.null_count = validity_.null_count();
  if (numbering_ && (!form.has_codes || (!has_codes_ && !translate_numbers()))) give_up_numbers();
  if (numbering_) {
    write_codes(form, column);
  } else {
    size_t entries = offsets_.size();
    offsets_.resize(entries + sizeof(uint32_t));
    *reinterpret_cast<uint32_t*>(offsets_.data() + entries) = static_cast<uint32_t>(heap_.size());
    column.encoding = Encoding::Heap;
    // The next tablet will need about as much: what it does not touch costs nothing.
    size_t expected = heap_.size() + heap_.size() / 8;
    column.offsets = std::exchange(offsets_, AlignedBuffer(offsets_.size()));
    column.heap = std::exchange(heap_, AlignedBuffer(expected));
    offsets_.resize(0);
    heap_.resize(0);
    if (dictionary_ != nullptr && --tablets_to_skip_ < 0) numbering_ = true;
  }
  column.validity = validity_.take();
  return column;
}

int64_t StagedStrings::bytes() const {
  return static_cast<int64_t>(numbered_rows_.size() + offsets_.size() + heap_.size()) + numbers_.bytes();
}

}  // namespace diptych
