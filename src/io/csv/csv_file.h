// CSV files as data files and as sources.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "io/csv/csv_blocks.h"
#include "io/csv/csv_inspection.h"
#include "io/csv/csv_parser.h"
#include "io/data_file.h"

namespace diptych {

// Thread safety: as DataFile.
class CsvFile : public DataFile {
 public:
  // fields: what COPY wants, whose meaning is PostgreSQL's; or empty for types by inspection.
  CsvFile(std::shared_ptr<File> file, const FileOptions& options, std::span<const ColumnDefinition> fields);

  const std::vector<ColumnDefinition>& columns() const override { return shape_.columns; }
  std::optional<int64_t> row_count() const override { return std::nullopt; }
  double progress() const override { return progress_; }
  void for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) override;

 private:
  friend class CsvReading;

  std::shared_ptr<File> file_;
  FileOptions options_;
  bool detects_;  // takes the columns' types from the first rows
  CsvShape shape_;
  std::atomic<double> progress_{0};
};

// One way through a file's rows, which can stop and go on at the end of any block. By one thread at a time.
class CsvReading {
 public:
  // The file must outlive it.
  explicit CsvReading(const CsvFile& file);

  // Passes on the rows of the blocks that follow, at most most_blocks. Errors: as DataFile::for_each_batch().
  void read(size_t most_blocks, std::span<const size_t> wanted, const BatchSink& sink);
  bool has_ended() const { return ended_; }
  // As DataFile::progress(), safe to call from any thread.
  double progress() const { return blocks_.progress(); }

 private:
  // Without the header.
  CsvBlock next_block();
  void pass_on(const ParsedBlock& block, const BatchSink& sink);
  [[noreturn]] void raise(const CsvFailure& failure, int64_t lines_before) const;

  const CsvFile& file_;
  CsvBlocks blocks_;
  CsvParser parser_;
  bool first_ = true;
  std::atomic<bool> ended_;
  int64_t lines_before_ = 0;
};

std::shared_ptr<const TabletSource> open_csv_source(std::shared_ptr<File> file, const FileOptions& options);

}  // namespace diptych
