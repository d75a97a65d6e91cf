// Rows of a thread whose groups are not looked up: their keys, partitions by the hashes of these, and arguments, in the
// order in which they came. They meet their groups when runs are merged.
#pragma once

#include <vector>

#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/argument_columns.h"

namespace diptych::cpu {

class LooseRows {
 public:
  explicit LooseRows(const HashTableInfo& info) : layout_(info.keys), arguments_(info.aggregates) {}

  // Adds the rows of the block; numbers[row] is the place of each, for its arguments.
  void add(KeyBlock& block, uint32_t* numbers);
  void clear();

  size_t count() const { return partitions_.size(); }
  const KeyLayout& layout() const { return layout_; }
  const uint64_t* keys() const { return rows_.data(); }
  // Null where the layout keeps none.
  const uint64_t* hashes() const { return layout_.keeps_hashes() ? hashes_.data() : nullptr; }
  const uint16_t* partitions() const { return partitions_.data(); }
  ArgumentColumns& arguments() { return arguments_; }
  const ArgumentColumns& arguments() const { return arguments_; }
  // Of a row, strings apart.
  size_t row_bytes() const {
    return layout_.words() * 8 + (layout_.keeps_hashes() ? 9 : 1) + arguments_.layout().row_bytes();
  }
  size_t bytes() const;
  size_t text_bytes() const { return arena_.bytes() + arguments_.text_bytes(); }

 private:
  KeyLayout layout_;
  std::vector<uint64_t> rows_, hashes_;
  std::vector<uint16_t> partitions_;
  ArgumentColumns arguments_;
  TextArena arena_;
};

}  // namespace diptych::cpu
