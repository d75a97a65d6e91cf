// Sorts rows word by word: by the first word of their keys, those that have the same one by the next, and so on;
// strings by eight bytes at a time. Many rows are put in order by the bytes of a word, the last byte first and only
// those in which some differ (LSD radix sort), few by comparing words.
//
// As multikey quicksort goes on behind what is equal (Bentley, Sedgewick: Fast Algorithms for Sorting and Searching
// Strings, SODA 1997), with the word at hand in the array (Ng, Kakehi: Cache Efficient Radix Sort for String Sorting,
// IEICE 2007).
#pragma once

#include <span>

#include "engine/cpu/sort_rows.h"

namespace diptych::cpu {

// entries: with their first and second words. room: as many, whose values are of no matter. Afterwards words are
// others. Errors: 57014.
void sort_by_words(std::span<SortEntry> entries, std::span<SortEntry> room, const SortLayout& layout,
                   const ExecutionContext& context);

}  // namespace diptych::cpu
