// Rows to be sorted as 64-bit words that compare as unsigned numbers, word by word, in the order of ORDER BY:
//
//   |key words|order|null bits|columns as they are: keys, payload|
//
// The key words are those of engine/rows/sort_key_layout.h; strings with equal words compare by content. `order` is the
// row's position in the input: rows with equal keys keep it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/cpu/frame.h"
#include "engine/rows/sort_key_layout.h"
#include "engine/run/context.h"

namespace diptych::cpu {

// A row in the array that is sorted.
struct SortEntry {
  uint64_t first, second;  // words of the row, so that nearly all comparisons stay in the array
  const uint64_t* row;
};

// Makes word(entry) the first word of each. Gives the bits in which some of them differ. Errors: 57014.
template <typename Word>
uint64_t set_first_words(std::span<SortEntry> entries, const ExecutionContext& context, const Word& word) {
  constexpr size_t rows_between_checks = 65536;
  uint64_t differing = 0;
  for (size_t begin = 0; begin < entries.size(); begin += rows_between_checks) {
    check_cancelled(context);
    for (SortEntry& entry : entries.subspan(begin, std::min(rows_between_checks, entries.size() - begin))) {
      entry.first = word(entry);
      differing |= entry.first ^ entries.front().first;
    }
  }
  return differing;
}

class SortLayout {
 public:
  explicit SortLayout(const RowSetInfo& info);

  size_t words() const { return words_; }
  size_t columns() const { return columns_.size(); }
  PhysicalType physical(size_t column) const { return columns_[column].physical; }
  // Writes rows of the block one after the other at `out`; the columns' registers start at `first`. Strings stay where
  // they are.
  void write(Frame& frame, int first, std::span<const uint16_t> rows, uint64_t* out) const;
  // Of rows that take key_words() each, the word at `number` of the key words, and those of keys that begin or go on
  // there.
  void write_key_word(Frame& frame, int first, std::span<const uint16_t> rows, size_t number, uint64_t* out) const;
  // The order, which is the last one, included.
  size_t key_words() const { return order_ + 1; }
  // Whether the first two words, where they differ, say which row is before.
  bool second_decides() const { return second_decides_; }
  // The word that decides between rows with equal first words, or 0 when it takes more than a word.
  uint64_t second_word(const uint64_t* row) const { return second_decides_ ? row[1] : 0; }
  bool before(const uint64_t* a, const uint64_t* b) const;
  // The same step by step: words of the rows, and behind the first word of a string its next bytes, then its length.
  size_t steps() const { return steps_.size(); }
  // Makes the step's words the first ones of the entries. Gives the bits in which some differ; nothing, and nothing is
  // done: the step is the length of strings of which one has more bytes than the steps before look at. Errors: 57014.
  std::optional<uint64_t> load_step(std::span<SortEntry> entries, size_t step, const ExecutionContext& context) const;
  // Replaces the addresses of the row's strings by copies in the arena.
  void own_texts(uint64_t* row, TextArena& arena) const;
  bool has_texts() const { return has_texts_; }
  // The row with its strings behind it, a whole number of words, as it stands in a temporary file: how long it is, how
  // it is written at `to`, and how the addresses of its strings are set where it was read to.
  size_t packed_bytes(const uint64_t* row) const;
  void pack(const uint64_t* row, size_t packed_bytes, uint64_t* to) const;
  void unpack(uint64_t* row) const;
  // A column of a row in register form at `out`; false when it is NULL.
  bool read(const uint64_t* row, size_t column, std::byte* out) const;

 private:
  struct Key : SortKeyPlace {
    size_t raw = 0;  // where the column itself is
  };
  struct Column {
    PhysicalType physical;
    size_t at;
  };
  // Rows of the block, and where they are written: each takes so many words.
  struct Place {
    std::span<const uint16_t> rows;
    uint64_t* out;
    size_t words;
  };
  template <typename T>
  void write_packed_key(const Slot& slot, const Key& key, const Place& place) const;
  template <typename T>
  void write_key(const Slot& slot, const Key& key, const Place& place) const;
  void write_key(Frame& frame, int first, size_t number, const Place& place) const;
  void write_order(const Frame& frame, const Place& place) const;
  template <typename T>
  void write_column(const Slot& slot, size_t number, const Place& place) const;
  // A word of the row, or of the string that is there.
  struct Step {
    enum class Kind : uint8_t { Word, Bytes, Length };
    Kind kind;
    bool descending;
    size_t at;
    int32_t offset;  // of the bytes
  };
  void add_steps();
  int compare_text(const Key& key, const uint64_t* a, const uint64_t* b) const;

  std::vector<Key> keys_;
  std::vector<Column> columns_;
  std::vector<Step> steps_;
  size_t order_ = 0, nulls_ = 0, null_words_ = 0, words_ = 0;
  bool has_text_keys_ = false, has_texts_ = false, second_decides_ = true;
};

struct SortEntryBefore {
  const SortLayout* layout;
  const ExecutionContext* context = nullptr;  // where set, asked between rows alike at first sight: they may be many
  // Errors: 57014.
  bool operator()(const SortEntry& a, const SortEntry& b) const {
    if (a.first != b.first) return a.first < b.first;
    if (context != nullptr) check_cancelled(*context);
    return a.second != b.second ? a.second < b.second : layout->before(a.row, b.row);
  }
};

}  // namespace diptych::cpu
