#include "engine/cpu/word_sort.h"

#include <algorithm>
#include <array>
#include <utility>

namespace diptych::cpu {
namespace {

constexpr int byte_bits = 8, word_bits = 64;
// Fewer are compared: counting 256 values takes as long.
constexpr size_t least_counted = 192;
// So few alike are compared as a whole.
constexpr size_t most_compared = 12;

bool is_less(const SortEntry& a, const SortEntry& b) { return a.first < b.first; }

void sort_by_first(std::span<SortEntry> entries, std::span<SortEntry> room, const ExecutionContext& context) {
  if (entries.size() < least_counted) return std::sort(entries.begin(), entries.end(), is_less);
  uint64_t varying = 0;
  for (const SortEntry& entry : entries) varying |= entry.first ^ entries.front().first;
  SortEntry *from = entries.data(), *to = room.data();
  for (int shift = 0; shift < word_bits; shift += byte_bits) {
    if ((varying >> shift & 0xFF) == 0) continue;
    check_cancelled(context);
    std::array<size_t, 256> next{};
    for (size_t i = 0; i < entries.size(); ++i) ++next[from[i].first >> shift & 0xFF];
    size_t before = 0;
    for (size_t& place : next) before += std::exchange(place, before);
    for (size_t i = 0; i < entries.size(); ++i) to[next[from[i].first >> shift & 0xFF]++] = from[i];
    std::swap(from, to);
  }
  if (from != entries.data()) std::copy_n(from, entries.size(), entries.data());
}

class WordSort {
 public:
  WordSort(const SortLayout& layout, const ExecutionContext& context)
      : layout_(layout), context_(context), before_{&layout, &context} {}

  // By the step's word, which the entries have, and those behind it.
  void sort(std::span<SortEntry> entries, std::span<SortEntry> room, size_t step) const {
    for (;;) {
      check_cancelled(context_);
      sort_by_first(entries, room, context_);
      if (step + 1 == layout_.steps()) return;
      if (entries.front().first != entries.back().first) break;
      if (!load(entries, ++step)) return;
    }
    for (size_t begin = 0, end; begin < entries.size(); begin = end) {
      for (end = begin + 1; end < entries.size() && entries[end].first == entries[begin].first;) ++end;
      if (end - begin > 1) go_on(entries.subspan(begin, end - begin), room.subspan(begin, end - begin), step + 1);
    }
  }

 private:
  // Among those that are alike so far.
  void go_on(std::span<SortEntry> entries, std::span<SortEntry> room, size_t step) const {
    if (entries.size() <= most_compared)
      std::sort(entries.begin(), entries.end(), before_);
    else if (load(entries, step))
      sort(entries, room, step);
  }

  // The step's words; false: strings go on behind what the steps look at, and the entries are sorted as a whole.
  bool load(std::span<SortEntry> entries, size_t step) const {
    const auto goes_on = [&](const SortEntry& entry) { return layout_.goes_on(entry.row, step); };
    if (std::any_of(entries.begin(), entries.end(), goes_on)) {
      std::sort(entries.begin(), entries.end(), before_);
      return false;
    }
    const bool has_second = step == 1 && layout_.second_decides();
    for (SortEntry& entry : entries) entry.first = has_second ? entry.second : layout_.word_at(entry.row, step);
    return true;
  }

  const SortLayout& layout_;
  const ExecutionContext& context_;
  const SortEntryBefore before_;
};

}  // namespace

void sort_by_words(std::span<SortEntry> entries, std::span<SortEntry> room, const SortLayout& layout,
                   const ExecutionContext& context) {
  if (entries.size() > 1) WordSort(layout, context).sort(entries, room, 0);
}

}  // namespace diptych::cpu
