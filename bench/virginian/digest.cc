#include "digest.h"

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

}  // namespace

void Digest::add(std::span<const uint32_t* const> columns, size_t rows) {
  for (size_t i = 0; i < rows; ++i) {
    uint64_t row = 0;
    for (size_t c = 0; c < columns.size(); ++c) {
      columns_[c] += mixed(columns[c][i] + 1);
      row = mixed(row * 31 + columns[c][i] + 1);
    }
    whole_ += row;
  }
  rows_ += rows;
}

}  // namespace diptych::bench
