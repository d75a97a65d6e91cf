// A row on its way to the partition of its group, as words of 32 bits:
//
//   |flags: which keys are NULL, which values came|key 0|key 1: low, high|argument 0| ...
//
// Aggregates of one register share its words.
#pragma once

#include <cstdint>
#include <vector>

#include "base/type.h"

namespace diptych::gpu {

struct GroupRowLayout {
  struct Key {
    size_t word = 0;
    int flag = -1;  // set: NULL; -1: never
  };
  struct Argument {
    int32_t register_number = -1;
    PhysicalType physical = PhysicalType::Int32;
    size_t word = 0;
  };
  std::vector<Key> keys;
  std::vector<Argument> arguments;
  std::vector<int> argument_of;           // by aggregate; -1: it has none
  std::vector<int> flag_of;               // by aggregate, set: the row counts; -1: every row does; none_counts
  static constexpr int none_counts = -2;  // an aggregate that only other sections have values for
  size_t flags = 0, words = 0;

  size_t flag_words() const { return (flags + 31) / 32; }
};

// Words of a value in a row, and of a key: floats go as the word that equal ones share.
size_t value_row_words(PhysicalType physical);
size_t key_row_words(PhysicalType physical);

}  // namespace diptych::gpu
