#include "engine/gpu/sort/text_sort.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

// Words of a string that are looked at together.
constexpr int64_t most_text_words = 64;

uint64_t word_of(int64_t value) { return static_cast<uint64_t>(value); }

}  // namespace

DeviceBuffer TextSort::sort(std::span<const DeviceAddress> words, std::span<const TextKey> texts, int64_t rows,
                            int64_t limit) {
  const auto words_up_to = [&](size_t text) { return text < texts.size() ? texts[text].word + 1 : words.size(); };
  const auto first = words.first(words_up_to(0));
  SelectedRows sorted = sort_words_(first, rows, limit);
  order_ = std::move(sorted.numbers);
  rows_ = sorted.rows;
  limit_ = limit < 0 ? rows_ : limit;
  starts_ = device_.allocate(rows_, "tied rows");
  end_ = device_.allocate(8, "tied rows");
  const WhenDone when_done{queue_};
  queue_.fill(starts_.address(), 0, rows_);
  queue_.fill(end_.address(), 0xFF, 4);
  for (DeviceAddress word : first) mark(rows_, order_.address(), word, {});
  for (size_t text = 0; text < texts.size(); ++text) {
    sort_texts(texts[text]);
    const size_t done = texts[text].word + 1;
    if (done < words_up_to(text + 1)) sort_words(words.subspan(done, words_up_to(text + 1) - done));
  }
  return std::move(order_);
}

TextSort::Ties TextSort::find_ties(const TextKey* text, int64_t bytes) {
  check_cancelled_();
  const int64_t groups = kernels_.groups_for_tiles(rows_);
  Ties ties;
  ties.counts = device_.allocate((groups + 1) * 2 * 4, "tied rows");
  const DeviceAddress counts = ties.counts.address(), sums = counts + groups * 2 * 4;
  ties.parameters = {word_of(rows_),
                     end_.address().value,
                     order_.address().value,
                     starts_.address().value,
                     text != nullptr ? text->rows.value : 0,
                     word_of(bytes),
                     counts.value};
  const WhenDone when_done{queue_};
  kernels_.launch(queue_, "dk_tie_tally", groups, ties.parameters);
  kernels_.launch(queue_, "dk_run_scan", 2, {word_of(groups), counts.value, sums.value});
  uint32_t rows = 0;
  queue_.copy_to_host(&rows, sums, sizeof(rows));
  queue_.synchronize();
  ties.rows = rows;
  return ties;
}

void TextSort::collect(Ties& ties, size_t words) {
  ties.at = device_.allocate(ties.rows * 4, "tied rows");
  ties.numbers = device_.allocate(ties.rows * 4, "tied rows");
  ties.words = device_.allocate((static_cast<int64_t>(words) + 1) * ties.rows * 8, "words of tied rows");
  ties.parameters.insert(ties.parameters.end(),
                         {ties.at.address().value, ties.numbers.address().value, ties.words.address().value});
  kernels_.launch(queue_, "dk_tie_rows", kernels_.groups_for_tiles(rows_), ties.parameters);
}

// The first time rows with short strings take part, too: a string that ends in bytes of 0 is told apart from one that
// is shorter.
void TextSort::sort_texts(const TextKey& text) {
  constexpr int64_t known_bytes = 8, first_count = 2;
  int64_t from = known_bytes;
  for (int64_t most = first_count;; most = std::min(2 * most, most_text_words)) {
    Ties ties = find_ties(from == known_bytes ? nullptr : &text, from);
    if (ties.rows == 0) return;
    const WhenDone when_done{queue_};
    // However many rows are tied, their words take about as much memory.
    const int64_t count = std::min(most, 2 * rows_ / ties.rows);
    const auto words = static_cast<size_t>(count) + 1;
    collect(ties, words);
    kernels_.launch(queue_, "dk_text_words", kernels_.groups_for(ties.rows),
                    {word_of(ties.rows), ties.numbers.address().value, text.rows.value, word_of(from), word_of(count),
                     text.descending ? uint64_t{1} : 0, ties.word(1).value});
    sort_ties(ties, words);
    from += 8 * count;
  }
}

void TextSort::sort_words(std::span<const DeviceAddress> words) {
  Ties ties = find_ties(nullptr, 0);
  if (ties.rows == 0) return;
  const WhenDone when_done{queue_};
  collect(ties, words.size());
  for (size_t word = 0; word < words.size(); ++word) {
    kernels_.launch(queue_, "dk_gather_8", kernels_.groups_for(ties.rows),
                    {word_of(ties.rows), ties.numbers.address().value, words[word].value, ties.word(word + 1).value});
  }
  sort_ties(ties, words.size());
}

void TextSort::sort_ties(const Ties& ties, size_t words) {
  std::vector<DeviceAddress> keys;
  for (size_t word = 0; word <= words; ++word) keys.push_back(ties.word(word));
  const SelectedRows sorted = sort_words_(keys, ties.rows, limit_ < rows_ ? limit_ : -1);
  const WhenDone when_done{queue_};
  kernels_.launch(
      queue_, "dk_tie_place", kernels_.groups_for(sorted.rows),
      {word_of(ties.rows), word_of(sorted.rows), sorted.numbers.address().value, ties.numbers.address().value,
       ties.at.address().value, order_.address().value, end_.address().value});
  for (size_t word = 1; word <= words; ++word)
    mark(sorted.rows, sorted.numbers.address(), keys[word], ties.at.address());
}

void TextSort::mark(int64_t rows, DeviceAddress order, DeviceAddress word, DeviceAddress at) {
  kernels_.launch(queue_, "dk_tie_mark", kernels_.groups_for(rows),
                  {word_of(rows), order.value, word.value, at.value, starts_.address().value, word_of(limit_),
                   end_.address().value});
}

}  // namespace diptych::gpu
