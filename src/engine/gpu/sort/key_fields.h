// What remains of the words of the rows that are to be sorted: of each word the bits that differ between rows, put
// together into as few keys as they fit in.
//
//   word 0  NULL or not      differs in bit 0         ->  key 0: 1 + 12 + 23 = 36 bits, sorted once
//   word 1  days from 1992   differs in bits 0 to 11
//   word 2  order key        differs in bits 0 to 22
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace diptych::gpu {

// Bits [shift, shift + bits) of a word.
struct KeyField {
  size_t word;
  int shift, bits;
};

struct SortKey {
  std::vector<KeyField> fields;  // the most significant first
  int bits = 0;                  // of all fields
};

// A key is made by a kernel whose parameters have room for so many fields.
constexpr size_t most_key_fields = 9;

// Keys, the most significant first, whose order is that of the words. varying: for each word, the bits that are not the
// same in all rows. None when all rows are equal.
std::vector<SortKey> pack_keys(std::span<const uint64_t> varying);

}  // namespace diptych::gpu
