#include "io/csv/csv_file.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <atomic>
#include <utility>

#include "io/csv/csv_blocks.h"
#include "io/csv/csv_inspection.h"
#include "io/csv/csv_parser.h"

namespace diptych {
namespace {

class CsvFile : public DataFile {
 public:
  CsvFile(FileSystem& files, const std::string& path, const FileOptions& options,
          std::span<const ColumnDefinition> fields);

  const std::vector<ColumnDefinition>& columns() const override { return shape_.columns; }
  std::optional<int64_t> row_count() const override { return std::nullopt; }
  double progress() const override { return progress_; }
  void for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) override;

 private:
  // The next block without the header.
  CsvBlock next_block(CsvBlocks& blocks, bool first) const;
  [[noreturn]] void raise(const CsvFailure& failure, int64_t rows_before) const;

  FileSystem& files_;
  std::string path_;
  FileOptions options_;
  CsvShape shape_;
  std::atomic<double> progress_{0};
};

CsvFile::CsvFile(FileSystem& files, const std::string& path, const FileOptions& options,
                 std::span<const ColumnDefinition> fields)
    : files_(files), path_(path), options_(options) {
  CsvBlocks blocks(files, path, options);
  shape_ = inspect_csv(blocks.next().bytes, options, fields);
}

CsvBlock CsvFile::next_block(CsvBlocks& blocks, bool first) const {
  CsvBlock block = blocks.next();
  if (first) block.bytes.erase(0, shape_.header_bytes);
  return block;
}

void CsvFile::raise(const CsvFailure& failure, int64_t rows_before) const {
  int64_t line = rows_before + failure.row + 1 + (shape_.has_header ? 1 : 0);
  throw Error(failure.state, "file '" + path_ + "', line " + std::to_string(line) + failure.message);
}

void CsvFile::for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) {
  CsvBlocks blocks(files_, path_, options_);
  CsvParser parser(options_, shape_.columns, shape_.extra_field);
  bool first = true, ended = false;
  int64_t rows_before = 0;
  auto take = [&](tbb::flow_control& control) -> CsvBlock {
    if (ended) {
      control.stop();
      return {};
    }
    CsvBlock block = next_block(blocks, std::exchange(first, false));
    ended = block.last;
    progress_ = blocks.progress();
    return block;
  };
  auto parse = [&](const CsvBlock& block) { return parser.parse(block.bytes, block.last, wanted); };
  auto pass_on = [&](const ParsedBlock& block) {
    if (block.failure) raise(*block.failure, rows_before);
    for (const OwnedBatch& batch : block.batches) {
      std::vector<BatchColumn> views = batch.views();
      sink({batch.rows, views});
    }
    rows_before += block.rows;
  };
  size_t in_flight = 2 * static_cast<size_t>(tbb::this_task_arena::max_concurrency()) + 1;
  tbb::parallel_pipeline(in_flight,
                         tbb::make_filter<void, CsvBlock>(tbb::filter_mode::serial_in_order, take) &
                             tbb::make_filter<CsvBlock, ParsedBlock>(tbb::filter_mode::parallel, parse) &
                             tbb::make_filter<ParsedBlock, void>(tbb::filter_mode::serial_in_order, pass_on));
}

}  // namespace

std::unique_ptr<DataFile> open_csv_file(FileSystem& files, const std::string& path, const FileOptions& options,
                                        std::span<const ColumnDefinition> fields) {
  return std::make_unique<CsvFile>(files, path, options, fields);
}

}  // namespace diptych
