#include "digest.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <cmath>

namespace diptych::bench {

namespace {

// The finaliser of MurmurHash3 (Appleby, public domain).
uint64_t mixed(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

// Rows that one thread takes.
constexpr size_t piece_rows = 1 << 14;

}  // namespace

void Digest::add(std::span<const uint32_t* const> columns, size_t rows) {
  *this += tbb::parallel_reduce(
      tbb::blocked_range<size_t>(0, rows, piece_rows), Digest(),
      [&](const auto& range, Digest digest) {
        digest.add_piece(columns, range.begin(), range.end());
        return digest;
      },
      [](Digest a, const Digest& b) { return a += b; });
}

void Digest::add_piece(std::span<const uint32_t* const> columns, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    uint64_t row = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      columns_[c] += mixed(columns[c][i] + 1);
      row = mixed(row * 31 + columns[c][i] + 1);
    }
    whole_ += row;
  }
  rows_ += end - begin;
}

Digest& Digest::operator+=(const Digest& other) {
  rows_ += other.rows_;
  for (size_t c = 0; c < columns_.size(); ++c) columns_[c] += other.columns_[c];
  whole_ += other.whole_;
  return *this;
}

bool agree(const Totals& a, const Totals& b, bool floats) {
  constexpr double largest = 100, part = 1e-6;
  if (a.rows != b.rows) return false;
  if (!floats) return a.sums == b.sums;
  for (size_t i = 0; i < a.sums.size(); ++i) {
    if (!(std::abs(a.sums[i] - b.sums[i]) <= part * largest * static_cast<double>(a.rows))) return false;
  }
  return true;
}

}  // namespace diptych::bench
