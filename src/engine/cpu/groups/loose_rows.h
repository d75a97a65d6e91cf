// Rows of a thread whose groups are not looked up: their keys, the hashes of these and their arguments, in the order in
// which they came. They meet their groups when runs are merged.
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

  size_t count() const { return hashes_.size(); }
  const KeyLayout& layout() const { return layout_; }
  KeyRows keys() const { return {rows_.data(), hashes_.data(), hashes_.size()}; }
  ArgumentColumns& arguments() { return arguments_; }
  const ArgumentColumns& arguments() const { return arguments_; }
  // Of a row, strings apart.
  size_t row_bytes() const { return layout_.words() * 8 + 8 + arguments_.layout().row_bytes(); }
  size_t bytes() const;
  size_t text_bytes() const { return arena_.bytes() + arguments_.text_bytes(); }

 private:
  KeyLayout layout_;
  std::vector<uint64_t> rows_, hashes_;
  ArgumentColumns arguments_;
  TextArena arena_;
};

}  // namespace diptych::cpu
