// Tablet sources that are read part by part: a reader that has enough rows leaves the rest of the file unread. A source
// that can do so also derives from a class below.
//
//   file   |1 block|2 blocks  |4 blocks            |...           CSV: a part is twice the one before
//   next()  1st     2nd        3rd
#pragma once

#include <cstdint>
#include <memory>

#include "tablet/tablet_source.h"

namespace diptych {

class PartReader {
 public:
  virtual ~PartReader() = default;
  // The rows that follow, as a source with the same columns that may outlive the reader; null: there are none left.
  // Reads, or leaves that to the part's pin(). By one thread. Errors: as TabletSource::pin(), and those of the file's
  // rows.
  virtual std::shared_ptr<const TabletSource> next() = 0;
};

class SourceInParts {
 public:
  virtual ~SourceInParts() = default;
  // From the first row on. Safe to call from any thread.
  virtual std::unique_ptr<PartReader> read_parts() const = 0;
  // As row_count(), or INT64_MAX where rows are counted only while they are read.
  virtual int64_t most_rows() const = 0;
};

// A source that reads all rows when it is asked for anything about them, unless it is told that parts will do.
class CanComeInParts {
 public:
  virtual ~CanComeInParts() = default;
  // The same rows as a SourceInParts, whose columns have no known bounds, so that asking for them reads nothing. Safe
  // to call from any thread.
  virtual std::shared_ptr<const TabletSource> in_parts() const = 0;
};

// A bound of the source's rows that are there, which is known without reading them.
inline int64_t most_rows(const TabletSource& source) {
  const auto* in_parts = dynamic_cast<const SourceInParts*>(&source);
  return in_parts != nullptr ? in_parts->most_rows() : source.live_rows();
}

}  // namespace diptych
