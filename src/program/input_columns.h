// The columns that an operator's expressions see in the section being compiled, each loaded when first asked for. Here
// ids become positions.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "bind/expression.h"
#include "program/program.h"

namespace diptych {

struct InputColumn {
  Type type;
  // Emits the opcodes that bring the column into a register: into `target` when that is not -1, in the given register
  // form when one is asked for (integers only). Called again for every new register.
  std::function<int32_t(int32_t target, const PhysicalType* physical)> load;
  bool reloadable = false;   // loading again costs nothing (a column of the cursor): blocks load it in place
  int32_t loaded = -1;       // register that holds it, -1: none yet
  bool is_position = false;  // of the cursor's row, which pairs no longer are: to be loaded before Matches

  // Strings that are codes of one dictionary:
  const Dictionary* dictionary = nullptr;
  std::function<int32_t(int32_t target)> load_code;
  int32_t loaded_code = -1;
};

class InputColumns {
 public:
  void add(ColumnId id, InputColumn column) {
    ids_.push_back(id);
    columns_.push_back(std::move(column));
  }
  void add_all(const InputColumns& other) {
    ids_.insert(ids_.end(), other.ids_.begin(), other.ids_.end());
    columns_.insert(columns_.end(), other.columns_.begin(), other.columns_.end());
  }
  // Loads the positions of rows, so that they can be read behind Matches.
  void load_positions() {
    for (InputColumn& column : columns_) {
      if (!column.is_position || column.loaded >= 0) continue;
      column.loaded = column.load(-1, nullptr);
      column.reloadable = false;
    }
  }
  InputColumn& operator[](ColumnId id) { return columns_[place_of(id)]; }
  const InputColumn& operator[](ColumnId id) const { return columns_[place_of(id)]; }

  // Expressions over these columns that are in a register already. The signature is the same for equal ones.
  struct Computed {
    uint64_t signature;
    const Expression* expression;
    int32_t number;
  };
  std::vector<Computed> computed;
  int64_t row_bound = 0;  // at most so many rows pass

 private:
  size_t place_of(ColumnId id) const {
    const auto found = std::find(ids_.begin(), ids_.end(), id);
    check_invariant(found != ids_.end(), "an expression reads columns of its operator's inputs");
    return static_cast<size_t>(found - ids_.begin());
  }

  std::vector<ColumnId> ids_;
  std::vector<InputColumn> columns_;
};

}  // namespace diptych
