// The bytes of a CSV file in blocks that end at the end of a row.
//
//   file    ...,"a line\n break",3\n4,x\n5,y...
//   blocks  [...,"a line\n break",3\n4,x\n] [5,y...
//
// A line's end inside quotes does not end a row: one does that has an even number of quotes before it.
#pragma once

#include <arrow/io/interfaces.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "io/arrow_file.h"
#include "io/csv/csv_parser.h"
#include "io/file_format.h"

namespace diptych {

class CsvBlocks {
 public:
  struct Sizes {
    int64_t block = int64_t{1} << 20;       // bytes that are read at a time
    int64_t most_row = int64_t{256} << 20;  // bytes after which the end of a row is no longer looked for
  };

  // Files whose names end in .gz or .zst are decompressed. A byte order mark at the beginning is dropped when told to.
  CsvBlocks(std::shared_ptr<File> file, const FileOptions& options, bool drop_mark, const Sizes& sizes);
  CsvBlocks(std::shared_ptr<File> file, const FileOptions& options, bool drop_mark)
      : CsvBlocks(std::move(file), options, drop_mark, Sizes()) {}

  // The next block, longer than usual where a row is. One without the end of a row, as a quote that is never closed
  // makes, is for the parser to refuse. Not called again after such a block and the last one.
  // Errors: 58030; 22P04 damaged compression.
  CsvBlock next();
  // Share of the file that has been read, 0 to 1. Safe to call from any thread.
  double progress() const {
    return file_bytes_ == 0 ? 1 : static_cast<double>(read_bytes_) / static_cast<double>(file_bytes_);
  }
  const std::string& path() const { return file_->path(); }

 private:
  // Appends up to `bytes` more to the block; false at the end of the file.
  bool fill(std::string& block, int64_t bytes);
  FileOptions options_;
  Sizes sizes_;
  std::shared_ptr<ArrowInputFile> file_;
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::string rest_;  // the beginning of the next block
  LineEnd line_end_ = LineEnd::Unknown;
  int64_t file_bytes_;
  std::atomic<int64_t> read_bytes_{0};
};

}  // namespace diptych
