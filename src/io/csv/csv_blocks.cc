#include "io/csv/csv_blocks.h"

#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>

namespace diptych {
namespace {

std::shared_ptr<arrow::io::InputStream> open_stream(const std::shared_ptr<ArrowInputFile>& file) {
  arrow::Compression::type compression = arrow::Compression::UNCOMPRESSED;
  if (file->path().ends_with(".gz")) compression = arrow::Compression::GZIP;
  if (file->path().ends_with(".zst")) compression = arrow::Compression::ZSTD;
  if (compression == arrow::Compression::UNCOMPRESSED) return file;
  std::shared_ptr<arrow::util::Codec> codec = check(arrow::util::Codec::Create(compression), *file);
  // The stream keeps using the codec: it is handed over with it.
  auto stream = check(arrow::io::CompressedInputStream::Make(codec.get(), file), *file);
  return {stream.get(), [stream, codec](arrow::io::InputStream*) {}};
}

constexpr size_t longest_character = 4;  // of UTF-8
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

CsvBlocks::CsvBlocks(std::shared_ptr<File> file, const FileOptions& options, bool drop_mark, const Sizes& sizes)
    : options_(options), sizes_(sizes), file_(std::make_shared<ArrowInputFile>(std::move(file))) {
  stream_ = open_stream(file_);
  file_bytes_ = check(file_->GetSize(), *file_);
  if (!drop_mark) return;
  fill(rest_, byte_order_mark.size());
  if (rest_ == byte_order_mark) rest_.clear();
}

bool CsvBlocks::fill(std::string& block, int64_t bytes) {
  size_t end = block.size();
  block.resize(end + static_cast<size_t>(bytes));
  int64_t got = 0;
  while (got < bytes) {
    int64_t count = check(stream_->Read(bytes - got, block.data() + end + got), *file_);
    if (count == 0) break;
    got += count;
  }
  block.resize(end + static_cast<size_t>(got));
  read_bytes_ = check(file_->Tell(), *file_);
  return got == bytes;
}

CsvBlock CsvBlocks::next() {
  CsvBlock block{std::move(rest_), line_end_, false};
  rest_.clear();
  for (int64_t wanted = sizes_.block;; wanted = static_cast<int64_t>(block.bytes.size())) {
    block.last = !fill(block.bytes, wanted);
    if (line_end_ == LineEnd::Unknown) line_end_ = find_line_end(block.bytes, options_, block.last);
    block.line_end = line_end_;
    if (block.last) return block;
    size_t whole = line_end_ == LineEnd::Unknown ? 0 : whole_csv_rows(block.bytes, options_, line_end_);
    if (whole > 0) {
      // As PostgreSQL does, the parser looks at the character behind a carriage return before it takes the row.
      const std::string_view next = std::string_view(block.bytes).substr(whole, longest_character);
      const bool is_bad = next.size() == longest_character && count_valid_bytes(next) == 0;
      if (line_end_ == LineEnd::Return && is_bad) ++whole;
      rest_.assign(block.bytes, whole);
      block.bytes.resize(whole);
      return block;
    }
    if (static_cast<int64_t>(block.bytes.size()) > sizes_.most_row) {
      block.has_row_end = false;
      return block;
    }
  }
}

}  // namespace diptych
