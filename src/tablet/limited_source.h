// A source that can do with reading only the beginning of what its rows come from.
#pragma once

#include <cstdint>
#include <memory>

#include "tablet/tablet_source.h"

namespace diptych {

class LimitedSource {
 public:
  virtual ~LimitedSource() = default;
  // The same columns; at least the first rows, in the same order, or all when there are fewer. Safe to call from any
  // thread.
  virtual std::shared_ptr<const TabletSource> first_rows(int64_t rows) const = 0;
};

}  // namespace diptych
