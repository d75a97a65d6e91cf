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

#include "io/arrow_file.h"
#include "io/file_format.h"

namespace diptych {

struct CsvBlock {
  std::string bytes;
  bool last = false;  // nothing follows: the last row may lack its line's end
};

class CsvBlocks {
 public:
  // Files whose names end in .gz or .zst are decompressed.
  CsvBlocks(FileSystem& files, const std::string& path, const FileOptions& options);

  // The next block, of about block_bytes, longer where a row is. Not called again after the last one. Errors: 58030;
  // 22P04 damaged compression, or a row of more than most_row_bytes, as a quote that is never closed makes.
  CsvBlock next();
  // Share of the file that has been read, 0 to 1. Safe to call from any thread.
  double progress() const {
    return file_bytes_ == 0 ? 1 : static_cast<double>(read_bytes_) / static_cast<double>(file_bytes_);
  }
  const std::string& path() const { return file_->path(); }

  static constexpr int64_t block_bytes = int64_t{1} << 20;
  static constexpr int64_t most_row_bytes = int64_t{256} << 20;

 private:
  // Appends up to `bytes` more to the block; false at the end of the file.
  bool fill(std::string& block, int64_t bytes);
  // Whether the bytes, which start outside quotes, end inside.
  bool ends_in_quotes(const std::string& block) const;
  // Length of the rows that are whole; 0 when there is none.
  size_t whole_rows(const std::string& block) const;
  size_t whole_rows_by_state(const std::string& block) const;

  FileOptions options_;
  std::shared_ptr<ArrowInputFile> file_;
  std::shared_ptr<arrow::io::InputStream> stream_;
  std::string rest_;  // the beginning of the next block
  int64_t file_bytes_;
  std::atomic<int64_t> read_bytes_{0};
};

}  // namespace diptych
