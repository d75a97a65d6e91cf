// Where a parallel section takes its rows from: an ordered list of tablets. A table's snapshot, a finished hash table,
// a sorted run, the rows of VALUES, a Parquet file and a result are all tablet sources, so engines and readers know one
// interface.
//
//   source:  [tablet 0: rows 0..65535] [tablet 1: rows 65536..131071] [tablet 2: rows 131072..131199]
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tablet/column_summary.h"

namespace diptych {

class SourceStatistics;

struct ColumnDefinition {
  std::string name;
  Type type;
};

// A tablet whose wanted columns are in memory and stay there while this object lives. views[i] is the i-th wanted
// column.
class PinnedTablet {
 public:
  virtual ~PinnedTablet() = default;
  int64_t rows = 0;
  int64_t first_position = 0;  // rows of the source before them
  std::vector<ColumnView> views;
};

// Neighbouring tablets of a source.
struct TabletGroup {
  size_t first = 0, count = 0;
  int64_t first_row = 0, rows = 0;  // rows of the source before them, and theirs
};

// How a column of a tablet is stored; see ColumnView.
struct StoredForm {
  Encoding encoding = Encoding::FrameOfReference;
  PhysicalType physical = PhysicalType::Int32;
  uint8_t width = 0;
  int64_t factor = 1;
  bool has_nulls = false;  // there is a bitmap of validity
  const Dictionary* dictionary = nullptr;
  bool operator==(const StoredForm&) const = default;
};

class TabletSource {
 public:
  virtual ~TabletSource() = default;
  virtual const std::vector<ColumnDefinition>& columns() const = 0;
  virtual size_t tablet_count() const = 0;
  virtual int64_t row_count() const = 0;
  virtual int64_t rows_in(size_t tablet) const = 0;
  // Of tablets [first, end).
  virtual int64_t rows_between(size_t first, size_t end) const {
    int64_t rows = 0;
    for (size_t tablet = first; tablet < end; ++tablet) rows += rows_in(tablet);
    return rows;
  }
  // Bounds of one column in one tablet, without reading it.
  virtual ZoneMap zone_map(size_t tablet, size_t column) const = 0;
  // What pin() would show of a column, without reading it; nothing: not known.
  virtual std::optional<StoredForm> stored_form(size_t /*tablet*/, size_t /*column*/) const { return std::nullopt; }
  // Differs from the id of every other tablet that the database has or had, so that copies elsewhere can be found
  // again; 0: the tablet has none.
  virtual uint64_t tablet_id(size_t) const { return 0; }
  // The number of the column that says which rows are there: it is the last one, true in those that are and NULL in
  // rows that were deleted, which nobody may see; nothing: all are there for good.
  virtual std::optional<size_t> visibility_column() const { return std::nullopt; }
  // Of the rows those that are there.
  virtual int64_t live_rows() const { return row_count(); }
  // As tablet_id(), of what some neighbours have in a column: they are the tablets', but for the visibility, which
  // changes.
  virtual std::vector<uint64_t> column_ids(size_t first, size_t count, size_t /*column*/) const {
    std::vector<uint64_t> ids;
    for (size_t tablet = first; tablet < first + count; ++tablet) ids.push_back(tablet_id(tablet));
    return ids;
  }
  // What the rows come from that the CPU alone reads, for messages ("a CSV file"); null: tablets of a table, or rows
  // that are in memory.
  virtual const char* read_by_cpu() const { return nullptr; }
  // True when every tablet keeps this column as codes of the same dictionary, which is then handed out; else nullptr.
  virtual const Dictionary* common_dictionary(size_t column) const = 0;
  // Brings the wanted columns into memory. Errors: 58030, 53200, XX001.
  virtual std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const = 0;
  // Whether what pin() returns may outlive the source.
  virtual bool pins_outlive_it() const { return false; }
  // Columns without NULLs in which no two rows have the same values; empty: none are known.
  virtual std::span<const size_t> key_columns() const { return {}; }
  // Of its values, for estimates; null: nothing is known.
  virtual const SourceStatistics* statistics() const { return nullptr; }
  // The same, made of some rows where none are at hand: for estimates that something is chosen by. Asked for after
  // row_count(); what fails makes it null.
  virtual const SourceStatistics* sampled_statistics() const { return statistics(); }
  // Bytes that pin() would bring in, in encoded form; for progress, EXPLAIN ANALYZE and placement.
  virtual int64_t encoded_bytes(size_t tablet, size_t column) const = 0;

  // All tablets in groups, in order, as the source knows them together; a source may have one group of them all.
  virtual size_t group_count() const { return 1; }
  virtual TabletGroup group(size_t) const { return {0, tablet_count(), 0, row_count()}; }
  // Of the tablets of a group; asks each of them, where the source does not keep it.
  virtual ColumnSummary group_summary(size_t group, size_t column) const;
  // In which forms the tablets of a group store a column, each once, the first tablet's first; empty: it is not kept,
  // and each tablet is to be asked.
  virtual std::vector<StoredForm> group_forms(size_t /*group*/, size_t /*column*/) const { return {}; }
  // Of all tablets.
  ColumnSummary summary(size_t column) const;
};

}  // namespace diptych
