#include "tablet/statistics/statistics_builder.h"

namespace diptych {

StatisticsBuilder::StatisticsBuilder(size_t columns, std::shared_ptr<const TableStatistics> before)
    : before_(std::move(before)), sketches_(columns), added_(columns) {
  if (before_) sketches_ = before_->sketches();
}

std::vector<DistinctSketch> StatisticsBuilder::current_sketches() {
  std::lock_guard guard(mutex_);
  return sketches_;
}

// From what is known so far, so that few values change a register: a branch that is foretold wrongly costs more than a
// hash.
void StatisticsBuilder::add(const EncodedTablet& tablet, int64_t first_position, const std::vector<bool>& had) {
  std::vector<DistinctSketch> sketches = current_sketches();
  const std::vector<int32_t> sampled = sampled_rows(first_position, tablet.rows);
  for (size_t i = 0; i < sketches.size(); ++i)
    if (had.empty() || !had[i]) sketches[i].add(tablet.columns[i].view(), tablet.rows, sampled);
  const RowSample sample = RowSample::of(tablet, first_position);
  std::lock_guard guard(mutex_);
  for (size_t i = 0; i < sketches.size(); ++i) sketches_[i].merge(sketches[i]);
  added_.append(sample);
  if (added_.rows() > 4 * RowSample::most_rows) added_.settle();
}

RowSample StatisticsBuilder::sample_with_added() const {
  return before_ ? RowSample::least_of({&added_, &before_->sample()}) : RowSample::least_of({&added_});
}

std::shared_ptr<const TableStatistics> StatisticsBuilder::finish() {
  std::lock_guard guard(mutex_);
  if (before_ && before_->sample().would_stay_with(added_)) {
    if (before_->sketches() == sketches_) return before_;
    before_ = std::make_shared<TableStatistics>(sketches_, before_->sample());
  } else {
    before_ = std::make_shared<TableStatistics>(sketches_, sample_with_added());
  }
  added_ = RowSample(sketches_.size());
  return before_;
}

}  // namespace diptych
