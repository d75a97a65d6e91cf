// An open Parquet file: what COPY streams from, and what ParquetSource pins row groups of.
#pragma once

#include <parquet/arrow/reader.h>
#include <parquet/metadata.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "io/arrow_file.h"
#include "io/data_file.h"
#include "io/owned_batch.h"
#include "tablet/statistics/row_sample.h"

namespace diptych {

// Thread safety: all const members may be called by many threads at once.
class ParquetReader {
 public:
  // Errors: as open_data_file().
  explicit ParquetReader(std::unique_ptr<File> file);

  const std::string& path() const { return file_->path(); }
  const std::vector<ColumnDefinition>& columns() const { return columns_; }
  const parquet::FileMetaData& metadata() const { return *metadata_; }
  size_t row_group_count() const { return static_cast<size_t>(metadata_->num_row_groups()); }
  int64_t rows_in(size_t row_group) const { return row_group_rows_[row_group]; }
  // "file 'x.parquet', column "a"", for messages.
  std::string place_of(size_t column) const;

  // Decodes columns of a row group, in pieces of at most `piece_rows` rows. Errors: 22P04, 58030, 22008, 22021, 53200.
  std::vector<OwnedBatch> read(size_t row_group, std::span<const size_t> wanted, int64_t piece_rows) const;
  // The first `rows` rows alone, in order; no more of the columns' bytes is read than they take.
  std::vector<OwnedBatch> read_head(size_t row_group, std::span<const size_t> wanted, int64_t rows) const;
  // Appends rows of a column of a row group, given in ascending order; only the pages that have them are decoded. A
  // file that can't be read there makes no other reading fail otherwise. Errors: as read().
  void sample_rows(size_t row_group, size_t column, std::span<const int64_t> rows, SampledColumn& sample) const;
  // How many different values a column has, by what the statistics of its row groups say.
  struct CountedValues {
    double least = 0, most = std::numeric_limits<double>::infinity();
  };
  CountedValues counted_values(size_t column) const;
  // The bounds that the file's statistics give, as far as they are exact. Its counts of NULLs are not taken: only a
  // column that can't have any is known to have none.
  ZoneMap zone_map(size_t row_group, size_t column) const;
  // Compares the count of rows with what the headers of a column's pages say. Errors: XX001, 22P04, 58030.
  void check_rows(size_t row_group, size_t column) const;
  // The column of the row group that takes the fewest bytes.
  size_t smallest_column(size_t row_group) const;
  // Bytes of a column in the file, compressed.
  int64_t stored_bytes(size_t row_group, size_t column) const;
  // The same, as they are before they are compressed.
  int64_t decompressed_bytes(size_t row_group, size_t column) const;

 private:
  [[noreturn]] void fail_rows(size_t row_group, int64_t found) const;
  void open();
  // batch_rows: of its batches of rows; a reader of all rows takes them at once, with all bytes of a column.
  std::unique_ptr<parquet::arrow::FileReader> make_reader(int64_t batch_rows = all_rows) const;
  std::unique_ptr<parquet::arrow::FileReader> make_reader(std::unique_ptr<parquet::ParquetFileReader> reader,
                                                          int64_t batch_rows) const;
  OwnedBatch piece_of(const arrow::RecordBatch& batch, std::span<const int> leaves,
                      std::span<const size_t> wanted) const;
  static constexpr int64_t all_rows = INT32_MAX;
  void read_schema();
  // Errors: 0A000 naming the column.
  void check_has_no_zone(const arrow::Field& field) const;
  // Leaf columns whose pages are all codes of a dictionary: they are handed on as codes.
  std::vector<bool> find_dictionary_leaves() const;

  std::shared_ptr<ArrowInputFile> file_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  std::vector<ColumnDefinition> columns_;
  std::vector<bool> dictionary_leaves_;
  std::vector<int64_t> row_group_rows_;
};

// fields: what COPY wants, or empty for the file's own types.
std::unique_ptr<DataFile> open_parquet_file(std::unique_ptr<File> file, std::span<const ColumnDefinition> fields);
std::shared_ptr<const TabletSource> open_parquet_source(std::unique_ptr<File> file);

}  // namespace diptych
