// What a tablet source is, too, whose zone maps are only what a file says. Its pin() compares those of the columns that
// it reads with the values; before a tablet is left out because of one, it is to be confirmed.
#pragma once

#include <cstddef>
#include <span>

namespace diptych {

struct TabletColumn {
  size_t tablet, column;
};

class ClaimedZoneMaps {
 public:
  virtual ~ClaimedZoneMaps() = default;
  // Compares the zone maps with the values, which may mean reading them all, on the threads of the calling TBB arena.
  // Thread safety: by many threads at once. Errors: XX001 naming the place, and as TabletSource::pin().
  virtual void confirm(std::span<const TabletColumn> claims) const = 0;
};

}  // namespace diptych
