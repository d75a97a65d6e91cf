#include "tablet/validity_bits.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace diptych {
namespace {

// The `count` (at most 56) bits from bit `first` on, reading no byte that holds none of them.
uint64_t read_bits(const uint8_t* bits, int64_t first, int64_t count) {
  const uint8_t* start = bits + (first >> 3);
  int64_t shift = first & 7;
  uint64_t word = 0;
  std::memcpy(&word, start, static_cast<size_t>((shift + count + 7) >> 3));
  return (word >> shift) & ((uint64_t{1} << count) - 1);
}

void write_bits(uint8_t* bits, int64_t first, int64_t count, uint64_t value) {
  uint8_t* start = bits + (first >> 3);
  int64_t shift = first & 7;
  size_t bytes = static_cast<size_t>((shift + count + 7) >> 3);
  uint64_t word = 0;
  std::memcpy(&word, start, bytes);
  uint64_t mask = ((uint64_t{1} << count) - 1) << shift;
  word = (word & ~mask) | (value << shift & mask);
  std::memcpy(start, &word, bytes);
}

constexpr int64_t step = 56;  // bits that always fit a 64-bit word after a shift within a byte

// Of `count` bits those up to the first whole byte.
int64_t bits_before_byte(int64_t first, int64_t count) { return std::min(count, -first & 7); }

}  // namespace

int64_t count_ones(const uint8_t* bits, int64_t first, int64_t count) {
  int64_t ones = 0;
  if (const int64_t before = bits_before_byte(first, count); before > 0) {
    ones = std::popcount(read_bits(bits, first, before));
    first += before;
    count -= before;
  }
  for (; count >= 64; first += 64, count -= 64) {
    uint64_t word = 0;
    std::memcpy(&word, bits + first / 8, sizeof(word));
    ones += std::popcount(word);
  }
  for (; count > 0; first += step, count -= step) ones += std::popcount(read_bits(bits, first, std::min(step, count)));
  return ones;
}

void copy_bits(uint8_t* target, int64_t target_first, const uint8_t* source, int64_t source_first, int64_t count) {
  for (int64_t i = 0; i < count; i += step) {
    int64_t n = std::min(step, count - i);
    write_bits(target, target_first + i, n, read_bits(source, source_first + i, n));
  }
}

void set_ones(uint8_t* bits, int64_t first, int64_t count) {
  const int64_t before = bits_before_byte(first, count);
  const int64_t bytes = (count - before) / 8, behind = (count - before) % 8;
  if (before > 0) write_bits(bits, first, before, 0xFF);
  if (bytes > 0) std::memset(bits + (first + before) / 8, 0xFF, static_cast<size_t>(bytes));
  if (behind > 0) write_bits(bits, first + count - behind, behind, 0xFF);
}

void GrowingValidity::reserve(int64_t rows) {
  size_t before = bits_.size();
  size_t after = static_cast<size_t>(validity_bytes(rows));
  if (after <= before) return;
  bits_.resize(after);
  std::memset(bits_.data() + before, 0, after - before);
}

void GrowingValidity::append(const uint8_t* bits, int64_t offset, int64_t count) {
  int64_t nulls = bits == nullptr ? 0 : count - count_ones(bits, offset, count);
  if (nulls > 0 && null_count_ == 0) {
    reserve(rows_);
    set_ones(bits_.as<uint8_t>(), 0, rows_);
  }
  null_count_ += nulls;
  if (null_count_ > 0) {
    reserve(rows_ + count);
    if (nulls > 0) {
      copy_bits(bits_.as<uint8_t>(), rows_, bits, offset, count);
    } else {
      set_ones(bits_.as<uint8_t>(), rows_, count);
    }
  }
  rows_ += count;
}

AlignedBuffer GrowingValidity::take() {
  AlignedBuffer taken = std::move(bits_);
  bits_ = AlignedBuffer();
  rows_ = 0;
  null_count_ = 0;
  return taken;
}

}  // namespace diptych
