// A source that can do with reading only the beginning of what its rows come from.
#pragma once

#include <memory>

#include "tablet/tablet_source.h"

namespace diptych {

class LimitedSource {
 public:
  virtual ~LimitedSource() = default;
  // The same rows as a source in parts (source_parts.h), whose columns have no known bounds, so that asking for them
  // reads nothing. Safe to call from any thread.
  virtual std::shared_ptr<const TabletSource> in_parts() const = 0;
};

}  // namespace diptych
