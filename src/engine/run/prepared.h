// The constants of a program in the form that loops look things up in; made once per run, then only read.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/integer_set.h"
#include "kernel/kernel.h"
#include "program/program.h"
#include "tablet/aligned_buffer.h"

namespace diptych {

// The register form of a constant at `to` (width_bytes of the type; text views the value's bytes). NULL gives zeros.
void store_value(const Value& value, PhysicalType physical, void* to);

// The values of an IN list.
class PreparedSet {
 public:
  explicit PreparedSet(const ValueSet& set);
  bool has_null() const { return has_null_; }
  bool has(int64_t value) const {
    if (!bitmap_.empty()) {
      const auto distance = static_cast<uint64_t>(value) - static_cast<uint64_t>(low_);
      return distance < bitmap_bits_ && (bitmap_[distance / 64] >> (distance % 64) & 1) != 0;
    }
    return wholes_.contains(value);
  }
  bool has(int128_t value) const;
  bool has(double value) const;
  bool has(dk_text value) const;
  bool has(dk_interval value) const;

 private:
  // Into the bitmap where their range is small, else into the hash table.
  void add_wholes(const std::vector<int64_t>& values);

  bool has_null_;
  IntegerSet wholes_;
  std::vector<uint64_t> bitmap_;  // from low_ on; empty: wholes_ has them
  int64_t low_ = 0;
  uint64_t bitmap_bits_ = 0;
  // Sorted, as SQL orders them:
  std::vector<int128_t> wides_;
  std::vector<double> floats_;
  std::vector<dk_interval> intervals_;
  std::unordered_set<std::string_view> texts_;
};

// A lookup table as a plain column of its entries.
struct PreparedLookup {
  PhysicalType physical = PhysicalType::Int32;
  size_t width = 4;
  AlignedBuffer entries;
  std::vector<bool> nulls;  // empty: none
  size_t size = 0;
};

struct PreparedObjects {
  explicit PreparedObjects(const Program& program);
  std::vector<PreparedSet> sets;
  std::vector<PreparedLookup> lookups;
};

}  // namespace diptych
