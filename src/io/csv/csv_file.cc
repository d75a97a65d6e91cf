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

// So many rows are likely to be in a block or two: reading others meanwhile would be for nothing.
constexpr int64_t few_rows = 10000;

class CsvFile : public DataFile {
 public:
  CsvFile(std::shared_ptr<File> file, const FileOptions& options, std::span<const ColumnDefinition> fields);

  const std::vector<ColumnDefinition>& columns() const override { return shape_.columns; }
  std::optional<int64_t> row_count() const override { return std::nullopt; }
  double progress() const override { return progress_; }
  void for_first_batches(std::span<const size_t> wanted, int64_t rows, const BatchSink& sink) override;

 private:
  // The next block without the header.
  CsvBlock next_block(CsvBlocks& blocks, bool first) const;
  [[noreturn]] void raise(const CsvFailure& failure, int64_t lines_before) const;

  std::shared_ptr<File> file_;
  FileOptions options_;
  bool detects_;  // takes the columns' types from the first rows
  CsvShape shape_;
  std::atomic<double> progress_{0};
};

CsvFile::CsvFile(std::shared_ptr<File> file, const FileOptions& options, std::span<const ColumnDefinition> fields)
    : file_(std::move(file)), options_(options), detects_(fields.empty()) {
  CsvBlocks blocks(file_, options, detects_);
  shape_ = inspect_csv(blocks.next(), options, fields, file_->path());
}

CsvBlock CsvFile::next_block(CsvBlocks& blocks, bool first) const {
  CsvBlock block = blocks.next();
  if (first) block.bytes.erase(0, shape_.header_bytes);
  return block;
}

void CsvFile::raise(const CsvFailure& failure, int64_t lines_before) const {
  const std::string line = std::to_string(shape_.header_lines + lines_before + 1);
  std::string hint;
  if (detects_ && failure.column >= 0 && failure.state != SqlState::bad_copy_file_format) {
    hint = "The types of columns were taken from the file's first rows: read_csv('" + file_->path() +
           "', all_varchar => true) reads all as text, and COPY reads them as a table has them.";
  }
  throw Error(failure.state, "file '" + file_->path() + "', line " + line + failure.message, -1, hint);
}

void CsvFile::for_first_batches(std::span<const size_t> wanted, int64_t rows, const BatchSink& sink) {
  CsvBlocks blocks(file_, options_, detects_);
  CsvParser parser(options_, shape_.columns, shape_.extra_field, detects_ ? CsvValues::Detected : CsvValues::Cast);
  bool first = true;
  std::atomic<bool> ended = shape_.ended;
  int64_t lines_before = 0, rows_before = 0;
  auto take = [&](tbb::flow_control& control) -> std::shared_ptr<CsvBlock> {
    if (ended) {
      control.stop();
      return nullptr;
    }
    auto block = std::make_shared<CsvBlock>(next_block(blocks, std::exchange(first, false)));
    if (block->last || block->bytes.size() > CsvBlocks::most_row_bytes) ended = true;
    progress_ = blocks.progress();
    return block;
  };
  auto parse = [&](const std::shared_ptr<CsvBlock>& block) { return parser.parse(*block, wanted); };
  bool is_passed = rows <= 0;  // all that are wanted are
  auto pass_on = [&](const ParsedBlock& block) {
    if (is_passed) return;
    std::vector<BatchColumn> views = block.batch.views();
    if (block.batch.rows > 0) sink({block.batch.rows, views});
    if (block.failure) raise(*block.failure, lines_before + block.failure_line);
    lines_before += block.lines;
    rows_before += block.batch.rows;
    if (block.ended || rows_before >= rows) is_passed = ended = true;
  };
  size_t in_flight = 2 * static_cast<size_t>(tbb::this_task_arena::max_concurrency()) + 1;
  if (rows <= few_rows) in_flight = 1;
  tbb::parallel_pipeline(
      in_flight, tbb::make_filter<void, std::shared_ptr<CsvBlock>>(tbb::filter_mode::serial_in_order, take) &
                     tbb::make_filter<std::shared_ptr<CsvBlock>, ParsedBlock>(tbb::filter_mode::parallel, parse) &
                     tbb::make_filter<ParsedBlock, void>(tbb::filter_mode::serial_in_order, pass_on));
}

}  // namespace

std::unique_ptr<DataFile> open_csv_file(std::shared_ptr<File> file, const FileOptions& options,
                                        std::span<const ColumnDefinition> fields) {
  return std::make_unique<CsvFile>(std::move(file), options, fields);
}

}  // namespace diptych
