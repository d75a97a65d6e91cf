// One version of one table: plain data, copied when a transaction changes the table, shared by everything that reads
// it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/catalog.h"
#include "storage/erased_rows.h"
#include "storage/tablet_directory.h"
#include "tablet/dictionary.h"
#include "tablet/statistics/table_statistics.h"

namespace diptych {

// The dictionaries of a table's columns, nullptr for columns that are not strings. They grow and are shared by all
// versions of the table; what a rolled-back transaction added stays, unused.
struct TableDictionaries {
  explicit TableDictionaries(const TableDefinition& definition);
  std::vector<Dictionary*> all() const;
  std::vector<std::unique_ptr<Dictionary>> columns;
};

// Strings [first, first + count) of a dictionary, in the file.
struct DictionarySegment {
  uint32_t first = 0;
  uint32_t count = 0;
  std::shared_ptr<const StoredBlob> blob;
};

struct TableState {
  TableDefinition definition;
  int64_t tablet_rows = 0;
  uint64_t contents_version = 0;  // of the catalog that was the last to change rows
  std::shared_ptr<TableDictionaries> dictionaries;
  TabletDirectory directory;
  ErasedRows erased;
  std::vector<std::vector<DictionarySegment>>
      segments;  // per column; cover at least the codes that tablets in the file use
  std::shared_ptr<const TableStatistics> statistics;  // null: none
  int64_t rows_in_statistics = 0;                     // that were added, those that are gone since included
  std::shared_ptr<const StoredBlob> statistics_blob;  // nullptr: not in the file yet
  std::shared_ptr<const StoredBlob> blob;             // of this version; nullptr: not in the file yet

  std::vector<ColumnDefinition> column_definitions() const;
};

TableState make_table(TableDefinition definition, int64_t tablet_rows);

}  // namespace diptych
