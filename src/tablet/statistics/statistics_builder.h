// Makes the statistics of a table that grows by tablets.
#pragma once

#include <memory>
#include <mutex>

#include "tablet/statistics/table_statistics.h"

namespace diptych {

class StatisticsBuilder {
 public:
  // before: of the rows so far; null: there are none, or nothing is known of them.
  StatisticsBuilder(size_t columns, std::shared_ptr<const TableStatistics> before);

  // Rows may be added again, as those of a tablet that is rewritten. The order in which tablets come counts nothing.
  // first_position: rows of the table before them. had: columns whose values were all added before; empty: none. Thread
  // safety: by many threads at once.
  void add(const EncodedTablet& tablet, int64_t first_position, const std::vector<bool>& had = {});
  // Those given, if nothing has changed them. Afterwards more may be added.
  std::shared_ptr<const TableStatistics> finish();

 private:
  std::vector<DistinctSketch> current_sketches();
  RowSample sample_with_added() const;

  std::shared_ptr<const TableStatistics> before_;
  std::mutex mutex_;  // guards what follows
  std::vector<DistinctSketch> sketches_;
  RowSample added_;  // rows that may be of the new sample
};

}  // namespace diptych
