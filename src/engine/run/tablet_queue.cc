#include "engine/run/tablet_queue.h"

#include <utility>

namespace diptych {

TabletQueue::TabletQueue(const TabletSource& source, std::vector<bool> needed)
    : source_(source), needed_(std::move(needed)), end_(needed_.size()) {
  while (end_ > 0 && !needed_[end_ - 1]) --end_;
  skip_unneeded();
}

TabletRun TabletQueue::take(int64_t most_rows) {
  std::lock_guard guard(mutex_);
  TabletRun run{next_, next_};
  if (most_rows >= source_.row_count()) {
    run.end = next_ = end_;
    return run;
  }
  int64_t rows = 0;
  while (next_ < end_) {
    rows += source_.rows_in(next_);
    if (rows > most_rows && run.end > run.first) break;
    run.end = ++next_;
    skip_unneeded();
  }
  return run;
}

void TabletQueue::close() {
  std::lock_guard guard(mutex_);
  next_ = end_;
}

TabletRun TabletQueue::left() const {
  std::lock_guard guard(mutex_);
  return {next_, end_};
}

void TabletQueue::skip_unneeded() {
  while (next_ < end_ && !needed_[next_]) ++next_;
}

}  // namespace diptych
