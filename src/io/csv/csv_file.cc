#include "io/csv/csv_file.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <utility>

namespace diptych {

CsvFile::CsvFile(std::shared_ptr<File> file, const FileOptions& options, std::span<const ColumnDefinition> fields)
    : file_(std::move(file)), options_(options), detects_(fields.empty()) {
  CsvBlocks blocks(file_, options, detects_);
  shape_ = inspect_csv(blocks.next(), options, fields, file_->path());
}

void CsvFile::for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) {
  CsvReading reading(*this);
  reading.read(SIZE_MAX, wanted, [&](const RowBatch& batch) {
    progress_ = reading.progress();
    sink(batch);
  });
  progress_ = reading.progress();
}

CsvReading::CsvReading(const CsvFile& file)
    : file_(file),
      blocks_(file.file_, file.options_, file.detects_),
      parser_(file.options_, file.shape_.columns, file.shape_.extra_field,
              file.detects_ ? CsvValues::Detected : CsvValues::Cast),
      ended_(file.shape_.ended) {}

CsvBlock CsvReading::next_block() {
  CsvBlock block = blocks_.next();
  if (std::exchange(first_, false)) block.bytes.erase(0, file_.shape_.header_bytes);
  if (block.last || !block.has_row_end) ended_ = true;
  return block;
}

void CsvReading::raise(const CsvFailure& failure, int64_t lines_before) const {
  const std::string line = std::to_string(file_.shape_.header_lines + lines_before + 1);
  std::string hint;
  if (file_.detects_ && failure.column >= 0 && failure.state != SqlState::bad_copy_file_format) {
    hint = "The types of columns were taken from the file's first rows: read_csv('" + blocks_.path() +
           "', all_varchar => true) reads all as text, and COPY reads them as a table has them.";
  }
  throw Error(failure.state, "file '" + blocks_.path() + "', line " + line + failure.message, -1, hint);
}

void CsvReading::pass_on(const ParsedBlock& block, const BatchSink& sink) {
  const std::vector<BatchColumn> views = block.batch.views();
  if (block.batch.rows > 0) sink({block.batch.rows, views});
  if (block.failure) raise(*block.failure, lines_before_ + block.failure_line);
  lines_before_ += block.lines;
  if (block.ended) ended_ = true;
}

void CsvReading::read(size_t most_blocks, std::span<const size_t> wanted, const BatchSink& sink) {
  size_t taken = 0;
  bool is_over = false;  // the data end before blocks that were read meanwhile
  const auto take = [&](tbb::flow_control& control) -> std::shared_ptr<CsvBlock> {
    if (ended_ || taken == most_blocks) {
      control.stop();
      return nullptr;
    }
    ++taken;
    return std::make_shared<CsvBlock>(next_block());
  };
  const auto parse = [&](const std::shared_ptr<CsvBlock>& block) { return parser_.parse(*block, wanted); };
  const auto give = [&](const ParsedBlock& block) {
    if (!is_over) pass_on(block, sink);
    is_over |= block.ended;
  };
  const size_t in_flight = 2 * static_cast<size_t>(tbb::this_task_arena::max_concurrency()) + 1;
  tbb::parallel_pipeline(
      in_flight, tbb::make_filter<void, std::shared_ptr<CsvBlock>>(tbb::filter_mode::serial_in_order, take) &
                     tbb::make_filter<std::shared_ptr<CsvBlock>, ParsedBlock>(tbb::filter_mode::parallel, parse) &
                     tbb::make_filter<ParsedBlock, void>(tbb::filter_mode::serial_in_order, give));
}

}  // namespace diptych
