#include "engine/cpu/word_sort.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace diptych::cpu {
namespace {

constexpr int byte_bits = 8, word_bits = 64;
// Fewer are compared: counting 256 values takes as long.
constexpr size_t least_counted = 192;
// So few alike are compared as a whole.
constexpr size_t most_compared = 4;

// differing: the bits in which some of the first words do.
void sort_by_first(std::span<SortEntry> entries, std::span<SortEntry> room, uint64_t differing,
                   const ExecutionContext& context) {
  if (entries.size() < least_counted) {
    std::ranges::sort(entries, {}, &SortEntry::first);
    return;
  }
  SortEntry *from = entries.data(), *to = room.data();
  for (int shift = 0; shift < word_bits; shift += byte_bits) {
    if ((differing >> shift & 0xFF) == 0) continue;
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

  // By the step's word, which the entries have and which differ in these bits, and those behind it.
  void sort(std::span<SortEntry> entries, std::span<SortEntry> room, size_t step, uint64_t differing) const {
    while (differing == 0) {
      if (++step == layout_.steps()) return;
      const std::optional<uint64_t> next = load(entries, step);
      if (!next) return;
      differing = *next;
    }
    sort_by_first(entries, room, differing, context_);
    if (++step == layout_.steps()) return;
    for (size_t begin = 0, end; begin < entries.size(); begin = end) {
      for (end = begin + 1; end < entries.size() && entries[end].first == entries[begin].first;) ++end;
      if (end - begin > 1) go_on(entries.subspan(begin, end - begin), room.subspan(begin, end - begin), step);
    }
  }

 private:
  // Among those that are alike before the step.
  void go_on(std::span<SortEntry> entries, std::span<SortEntry> room, size_t step) const {
    if (entries.size() <= most_compared) return std::sort(entries.begin(), entries.end(), before_);
    if (const std::optional<uint64_t> differing = load(entries, step)) sort(entries, room, step, *differing);
  }

  // The step's words, and the bits in which they differ. Nothing: strings go on behind what the steps look at, and the
  // entries are sorted as a whole.
  std::optional<uint64_t> load(std::span<SortEntry> entries, size_t step) const {
    if (step == 1 && layout_.second_decides())
      return set_first_words(entries, context_, [](const SortEntry& entry) { return entry.second; });
    const std::optional<uint64_t> differing = layout_.load_step(entries, step, context_);
    if (!differing) std::sort(entries.begin(), entries.end(), before_);
    return differing;
  }

  const SortLayout& layout_;
  const ExecutionContext& context_;
  const SortEntryBefore before_;
};

}  // namespace

void sort_by_words(std::span<SortEntry> entries, std::span<SortEntry> room, const SortLayout& layout,
                   const ExecutionContext& context) {
  if (entries.size() < 2) return;
  const uint64_t differing = set_first_words(entries, context, [](const SortEntry& entry) { return entry.first; });
  WordSort(layout, context).sort(entries, room, 0, differing);
}

}  // namespace diptych::cpu
