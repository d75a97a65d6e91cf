// Rows of a thread whose groups are not looked up: their keys, partitions by the hashes of these, and arguments, in the
// order in which they came. They meet their groups when runs are merged.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/group_keys.h"
#include "engine/cpu/groups/argument_columns.h"

namespace diptych {
class PinnedTablet;
}

namespace diptych::cpu {

class LooseRows {
 public:
  explicit LooseRows(const HashTableInfo& info) : layout_(info.keys), arguments_(info.aggregates) {}

  // Adds the rows of the block; numbers[row] is the place of each, for its arguments. keeper: of the strings of keys;
  // null: they are copied.
  void add(KeyBlock& block, uint32_t* numbers, std::shared_ptr<const PinnedTablet> keeper);
  void clear();

  size_t count() const { return partitions_.size(); }
  const KeyLayout& layout() const { return layout_; }
  const uint64_t* keys() const { return rows_.data(); }
  // What keeps the strings of all keys alive; empty: some are copies that end with clear(), or there are none.
  std::span<const std::shared_ptr<const PinnedTablet>> keepers() const {
    return has_copies_ ? std::span<const std::shared_ptr<const PinnedTablet>>() : keepers_;
  }
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
  std::vector<std::shared_ptr<const PinnedTablet>> keepers_;
  bool has_copies_ = false;  // of strings of keys
};

}  // namespace diptych::cpu
