// How many different values a column has, from 1,024 bytes that hashes of the values have left their mark on.
//
//   hash   0000000101 0001...   register 5: the greatest rank so far; here 4, one more than the zeros behind its number
//
// Flajolet, Fusy, Gandouet, Meunier: HyperLogLog, AofA 2007. Estimated as Ertl has it (New cardinality estimation
// algorithms for HyperLogLog sketches, 2017, section 4), which needs no tables for small counts. The standard error is
// 1.04 / sqrt(1024): 3.3 %.
//
// Adding a value again changes nothing, and sketches of parts merge into that of the whole, in any order.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace diptych {

class HyperLogLog {
 public:
  static constexpr int index_bits = 10;
  static constexpr size_t register_count = size_t{1} << index_bits;
  static constexpr uint8_t greatest_rank = 64 - index_bits + 1;
  using Registers = std::array<uint8_t, register_count>;

  HyperLogLog() = default;
  // Each at most greatest_rank.
  explicit HyperLogLog(const Registers& registers) : registers_(registers) {}

  // The hash has all its bits mixed; mixed() does that for numbers.
  void add(uint64_t hash) {
    uint8_t& greatest = registers_[hash >> (64 - index_bits)];
    // The bit behind the last one ends the zeros.
    const auto rank = static_cast<uint8_t>(std::countl_zero(hash << index_bits | uint64_t{1} << (index_bits - 1)) + 1);
    if (rank > greatest) greatest = rank;
  }
  void merge(const HyperLogLog& other);
  double estimate() const;
  const Registers& registers() const { return registers_; }
  bool operator==(const HyperLogLog&) const = default;

  static uint64_t mixed(uint64_t value) {
    value *= 0x9E3779B97F4A7C15;
    value ^= value >> 32;
    return value * 0xD6E8FEB86659FD93;
  }

 private:
  Registers registers_{};
};

}  // namespace diptych
