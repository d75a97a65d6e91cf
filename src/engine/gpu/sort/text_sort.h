// Sorting rows some of whose keys are strings of any length, of which the words have the first 8 bytes only:
//
//   words, up to the first string's     ->  an order, and which neighbours are tied
//   as long as strings of tied rows go on: their next bytes, sorted within each tie   (kernel/device/row_ties.h)
//   the words after it, up to the next string's, within each tie; and so on
//
// Only rows that are tied cost more than a sort by words; of them, twice as many bytes are looked at each time.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/sort/row_select.h"
#include "engine/gpu/sort/sort_kernels.h"

namespace diptych::gpu {

// A key whose word `word` has the first 8 bytes of strings.
struct TextKey {
  size_t word;
  DeviceAddress rows;  // where the strings are: rows of kernel/device/text_row.h
  bool descending;
};

class TextSort {
 public:
  // Sorts rows by words; see DeviceSort::sort(). All rows that are equal in all words are returned, or none.
  using SortWords = std::function<SelectedRows(std::span<const DeviceAddress> words, int64_t rows, int64_t limit)>;

  // All outlive it. check_cancelled: throws when the statement is to end.
  TextSort(Device& device, const SortKernels& kernels, Queue& queue, SortWords sort_words,
           const std::function<void()>& check_cancelled)
      : device_(device),
        kernels_(kernels),
        queue_(queue),
        sort_words_(std::move(sort_words)),
        check_cancelled_(check_cancelled) {}

  // As DeviceSort::sort(); texts: ascending by word, at least one; rows, limit: not 0.
  DeviceBuffer sort(std::span<const DeviceAddress> words, std::span<const TextKey> texts, int64_t rows, int64_t limit);

 private:
  // Rows that are tied: where they stand, their numbers, and words of theirs.
  struct Ties {
    int64_t rows = 0;
    std::vector<uint64_t> parameters;  // of dk_tie_tally and dk_tie_rows
    DeviceBuffer counts, at, numbers;
    DeviceBuffer words;  // word by word: the number of the tie, then those that they are sorted by
    DeviceAddress word(size_t number) const { return words.address() + static_cast<int64_t>(number) * rows * 8; }
  };

  // Counts tied rows; with a key, those whose strings have more than so many bytes.
  Ties find_ties(const TextKey* text, int64_t bytes);
  // Queues everything but the words behind the first, which `words` are to follow.
  void collect(Ties& ties, size_t words);
  void sort_texts(const TextKey& text);
  void sort_words(std::span<const DeviceAddress> words);
  void sort_ties(const Ties& ties, size_t words);
  void mark(int64_t rows, DeviceAddress order, DeviceAddress word, DeviceAddress at);

  Device& device_;
  const SortKernels& kernels_;
  Queue& queue_;
  const SortWords sort_words_;
  const std::function<void()>& check_cancelled_;
  int64_t rows_ = 0, limit_ = 0;
  DeviceBuffer order_, starts_, end_;
};

}  // namespace diptych::gpu
