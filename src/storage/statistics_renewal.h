// Makes the statistics of a table anew, when many of the rows are gone that they were made of: sketches and samples
// take rows in, but none out.
//
// The rows are read beside writers; what these add meanwhile is read again, at last as the one writer, where it is
// little.
#pragma once

#include <atomic>
#include <set>

#include "storage/table_view.h"
#include "storage/tablet_storage.h"
#include "tablet/statistics/statistics_builder.h"

namespace diptych {

// Whether the statistics are to be made anew.
bool is_out_of_date(const TableState& table);

class StatisticsRenewal {
 public:
  explicit StatisticsRenewal(const TableState& table)
      : columns_(table.column_definitions()), statistics_(columns_.size(), nullptr) {}

  // The rows that are there of those tablets of a version of the table that were not added before. Errors: 53200,
  // 58030, XX001, 57014 once *cancelled, which may be null, is true.
  void add(const TabletStorage& storage, const TableState& table, const std::atomic<bool>* cancelled);
  // Into the last version that was added.
  void put(TableState& table);

 private:
  const std::vector<ColumnDefinition> columns_;
  StatisticsBuilder statistics_;
  std::set<uint64_t> added_;  // ids of tablets
  int64_t rows_ = 0;
};

}  // namespace diptych
