// The tablets of a section that nobody has taken yet. Whoever works on the section takes as many as suit him, the next
// ones in order, until there are none.
//
//   tablets   | 0 | 1 | - | 3 | - | - | 6 | 7 |        -: ruled out by the section's conditions
//   take()    |0 ........... 3|       |6 ... 7|
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "tablet/tablet_source.h"

namespace diptych {

// Tablets first to end - 1 of a source; the queue says which of them are needed.
struct TabletRun {
  size_t first = 0, end = 0;
  bool is_empty() const { return first == end; }
  bool operator==(const TabletRun&) const = default;
};

class TabletQueue {
 public:
  // needed: of each tablet of the source, which outlives the queue.
  TabletQueue(const TabletSource& source, std::vector<bool> needed);

  // The next tablets, at least one and of no more than so many needed rows beyond that; the first and the last of them
  // are needed. Empty when none is left.
  TabletRun take(int64_t most_rows);
  // Takes all that is left, so that nobody else does.
  void close();
  // All that nobody has taken.
  TabletRun left() const;
  bool needs(size_t tablet) const { return needed_[tablet]; }

 private:
  void skip_unneeded();

  const TabletSource& source_;
  const std::vector<bool> needed_;
  size_t end_ = 0;  // behind the last one that is needed
  mutable std::mutex mutex_;
  size_t next_ = 0;  // guarded by mutex_; is needed, or end_
};

}  // namespace diptych
