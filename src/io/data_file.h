// A data file to take rows from: CSV or Parquet, for COPY, FROM 'x.parquet' and read_csv().
//
//   open_data_file("lineitem.csv", ...)  ->  columns()           names and types
//                                        ->  for_each_batch(...)  rows in the file's order, in register form, batch by
//                                        batch
//
// Files are read and decoded on the threads of the calling TBB arena; the sink is called by one thread at a time, in
// the file's order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file_format.h"
#include "io/input_file.h"
#include "tablet/row_batch.h"
#include "tablet/tablet_source.h"

namespace diptych {

using BatchSink = std::function<void(const RowBatch&)>;

// Thread safety: for_each_batch() by one thread at a time; the others by any.
class DataFile {
 public:
  virtual ~DataFile() = default;
  virtual const std::vector<ColumnDefinition>& columns() const = 0;
  // Passes on all rows; batch column i is column wanted[i]. What the sink throws ends the reading and comes out here.
  // Errors: 58030; 22P04 the file is not in its format; 22P02, 22003, 22007, 22008, 22001, 22021 a value does not fit
  // its column, with the file, row and column.
  virtual void for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) = 0;
  // All columns.
  void for_each_batch(const BatchSink& sink);
  // Rows, when the file says so.
  virtual std::optional<int64_t> row_count() const = 0;
  // How much of the file has been taken in so far, 0 to 1.
  virtual double progress() const = 0;
};

// Opens a file whose columns are the file's own: a Parquet file's schema; for CSV as its first rows suggest (bigint,
// double precision, date, timestamp, boolean, text) and the header names them, else column0, column1, ... A pipe is
// read whole first. Errors: as open_input(), 22P04; 0A000 a Parquet column of a type that Diptych has not, naming both.
std::unique_ptr<DataFile> open_data_file(const ReadContext& context, const std::string& path,
                                         const FileOptions& options);

// Opens a file that is to give columns of these types, by position: what COPY ... FROM needs. CSV fields are read as
// PostgreSQL reads them; Parquet columns are converted where SQL would on assignment. Without FileOptions::header a CSV
// file's first line is skipped when it holds the fields' names. Errors: as above, 22P04 the count of columns is
// another, 42804 no conversion.
std::unique_ptr<DataFile> open_data_file(const ReadContext& context, const std::string& path,
                                         const FileOptions& options, std::span<const ColumnDefinition> fields);

// The file as a source of rows for FROM 'file': Parquet row groups are decoded when they are pinned, a CSV file is read
// whole into tablets when its rows are first asked for. Under a LIMIT both are read in parts (tablet/source_parts.h).
// What the context refers to must outlive the source.
std::shared_ptr<const TabletSource> open_file_source(const ReadContext& context, const std::string& path,
                                                     const FileOptions& options);

}  // namespace diptych
