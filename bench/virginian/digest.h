// What a result holds, whatever the order of its rows: equal digests mean equal rows, bit for bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "queries.h"

namespace diptych::bench {

class Digest {
 public:
  // Adds rows given as columns of 32-bit values (the bits of an int32 or float32).
  void add(std::span<const uint32_t* const> columns, size_t rows);

  Digest& operator+=(const Digest& other);

  uint64_t rows() const { return rows_; }
  bool operator==(const Digest&) const = default;

 private:
  void add_piece(std::span<const uint32_t* const> columns, size_t begin, size_t end);

  uint64_t rows_ = 0;
  std::array<uint64_t, most_columns> columns_{};  // of each column's values by themselves
  uint64_t whole_ = 0;                            // of whole rows, so that values can't swap places
};

// The answer to a query's totals_sql().
struct Totals {
  int64_t rows = 0;
  std::array<double, most_columns - 1> sums{};  // 0 past the query's columns
};

// Floats are added in any order and precision, so that sums may differ by a few parts in a million of what `rows`
// values can come to; counts and sums of integers may not.
bool agree(const Totals& a, const Totals& b, bool floats);

}  // namespace diptych::bench
