#include "io/csv/csv_blocks.h"

#include <arrow/io/compressed.h>
#include <arrow/util/compression.h>

#include <algorithm>

#include "base/error.h"

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

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

}  // namespace

CsvBlocks::CsvBlocks(FileSystem& files, const std::string& path, const FileOptions& options)
    : options_(options), file_(std::make_shared<ArrowInputFile>(files.open(path, OpenMode::Read))) {
  stream_ = open_stream(file_);
  file_bytes_ = check(file_->GetSize(), *file_);
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
  CsvBlock block{std::move(rest_), false};
  rest_.clear();
  for (int64_t wanted = block_bytes;; wanted = static_cast<int64_t>(block.bytes.size())) {
    block.last = !fill(block.bytes, wanted);
    if (block.last) {
      if (ends_in_quotes(block.bytes))
        throw Error(SqlState::bad_copy_file_format, "file '" + path() + "': a quote is not closed");
      return block;
    }
    size_t whole = whole_rows(block.bytes);
    if (whole > 0) {
      rest_.assign(block.bytes, whole);
      block.bytes.resize(whole);
      return block;
    }
    if (static_cast<int64_t>(block.bytes.size()) > most_row_bytes) {
      throw Error(SqlState::bad_copy_file_format,
                  "file '" + path() + "': a row is longer than 256 MiB, or a quote is not closed");
    }
  }
}

bool CsvBlocks::ends_in_quotes(const std::string& block) const {
  if (options_.escape == options_.quote) return std::count(block.begin(), block.end(), options_.quote) % 2 != 0;
  bool inside = false;
  for (size_t i = 0; i < block.size(); ++i) {
    if (inside && block[i] == options_.escape)
      ++i;
    else if (block[i] == options_.quote)
      inside = !inside;
  }
  return inside;
}

size_t CsvBlocks::whole_rows(const std::string& block) const {
  if (options_.escape != options_.quote) return whole_rows_by_state(block);
  // The block starts outside quotes; counting is many times faster than following each quote.
  bool inside = std::count(block.begin(), block.end(), options_.quote) % 2 != 0;
  for (size_t i = block.size(); i > 0; --i) {
    char c = block[i - 1];
    if (c == options_.quote) inside = !inside;
    if (c == '\n' && !inside) return i;
  }
  return 0;
}

size_t CsvBlocks::whole_rows_by_state(const std::string& block) const {
  size_t whole = 0;
  bool inside = false;
  for (size_t i = 0; i < block.size(); ++i) {
    if (inside && block[i] == options_.escape) {
      ++i;
    } else if (block[i] == options_.quote) {
      inside = !inside;
    } else if (block[i] == '\n' && !inside) {
      whole = i + 1;
    }
  }
  return whole;
}

}  // namespace diptych
