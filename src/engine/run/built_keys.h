// What is known of the keys of a built index, before any row is looked up in it.
#pragma once

#include <cstddef>

#include "base/type.h"

namespace diptych {

class BuiltKeys {
 public:
  virtual ~BuiltKeys() = default;
  // Whether no row will ever be found.
  virtual bool is_empty() const = 0;
  // False only when key number `key` of no row lies from low to high.
  virtual bool has_any(size_t key, int128_t low, int128_t high) const = 0;
};

}  // namespace diptych
