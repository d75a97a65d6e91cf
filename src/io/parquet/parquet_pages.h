// A Parquet file of which only some pages of a column's are decoded: what is between them is passed over.
//
//   wanted rows          5 7               31
//   pages          [0 .. 9] [10 .. 19] [20 .. 34] [35 ..
//   kept rows      [0 .. 9]            [10 .. 24]           as a reader of the file counts them
#pragma once

#include <parquet/file_reader.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace diptych {

// Which pages of one column of a row group are kept, as they come.
class KeptPages {
 public:
  // wanted: rows of the row group, in ascending order; they outlive it.
  explicit KeptPages(std::span<const int64_t> wanted) : wanted_(wanted) {}

  // Whether the next page has a wanted row.
  bool takes(int64_t page_rows);
  // Whether no page that follows has one.
  bool has_all() const { return next_ == wanted_.size(); }
  // The wanted rows of the pages so far, as rows of the kept ones.
  const std::vector<int64_t>& kept_rows() const { return kept_rows_; }

 private:
  std::span<const int64_t> wanted_;
  size_t next_ = 0;        // of the wanted rows, behind the pages so far
  int64_t rows_ = 0;       // of the pages so far
  int64_t rows_kept_ = 0;  // of those that were kept
  std::vector<int64_t> kept_rows_;
};

// The file, as its columns have kept pages alone. One column of one row group may be read, once. pages outlives it.
std::unique_ptr<parquet::ParquetFileReader> open_kept_pages(std::unique_ptr<parquet::ParquetFileReader> whole,
                                                            const parquet::ReaderProperties& properties,
                                                            KeptPages& pages);

}  // namespace diptych
