#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include "io/csv/csv_file.h"
#include "tablet/builder.h"
#include "tablet/memory_source.h"
#include "tablet/source_parts.h"
#include "tablet/statistics/memory_statistics.h"

namespace diptych {
namespace {

constexpr const char* what_it_is = "a CSV file";

// Rows of the file in memory.
class CsvTablets : public MemorySource {
 public:
  using MemorySource::MemorySource;
  const char* read_by_cpu() const override { return what_it_is; }

  // Takes in the rows of the blocks that follow, at most most_blocks.
  void load(CsvReading& reading, size_t most_blocks) {
    std::vector<size_t> all(columns().size());
    std::iota(all.begin(), all.end(), size_t{0});
    TabletBuilder builder(columns(), tablet_rows, new_dictionaries());
    reading.read(most_blocks, all, [&](const RowBatch& batch) {
      for (int64_t taken = 0; taken < batch.rows;) {
        taken += builder.append(batch, taken, batch.rows - taken);
        if (builder.full()) add(builder.finish());
      }
    });
    if (builder.rows() > 0) add(builder.finish());
  }

 private:
  static constexpr int64_t tablet_rows = 65536;
};

class CsvPartReader : public PartReader {
 public:
  explicit CsvPartReader(std::shared_ptr<const CsvFile> file) : file_(std::move(file)), reading_(*file_) {}

  std::shared_ptr<const TabletSource> next() override {
    auto part = std::make_shared<CsvTablets>(file_->columns());
    while (part->row_count() == 0) {
      if (reading_.has_ended()) return nullptr;
      part->load(reading_, blocks_);
      blocks_ = std::min(2 * blocks_, most_blocks);
    }
    return part;
  }

 private:
  // Of a part: each thread has some to parse, and what is read in vain or held at once stays small.
  static constexpr size_t most_blocks = 256;

  const std::shared_ptr<const CsvFile> file_;
  CsvReading reading_;
  size_t blocks_ = 1;
};

// Knows its columns from the file's beginning; reads the rest into memory when the rows are first asked for.
class CsvSource : public TabletSource, public CanComeInParts {
 public:
  explicit CsvSource(std::shared_ptr<const CsvFile> file) : file_(std::move(file)), rows_(file_->columns()) {}

  std::shared_ptr<const TabletSource> in_parts() const override;

  const std::vector<ColumnDefinition>& columns() const override { return file_->columns(); }
  size_t tablet_count() const override { return loaded().tablet_count(); }
  int64_t row_count() const override { return loaded().row_count(); }
  int64_t rows_in(size_t tablet) const override { return loaded().rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return loaded().zone_map(tablet, column); }
  const char* read_by_cpu() const override { return what_it_is; }
  const Dictionary* common_dictionary(size_t column) const override { return loaded().common_dictionary(column); }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    return loaded().pin(tablet, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return loaded().encoded_bytes(tablet, column); }
  // Of all rows: whoever asks has had them counted, for which they were read.
  const SourceStatistics* sampled_statistics() const override {
    std::call_once(statistics_once_, [this] { statistics_.emplace(columns().size(), loaded().tablets()); });
    return &*statistics_;
  }

 protected:
  const std::shared_ptr<const CsvFile> file_;

 private:
  const MemorySource& loaded() const {
    std::call_once(once_, [this] {
      CsvTablets rows(file_->columns());
      CsvReading reading(*file_);
      rows.load(reading, SIZE_MAX);
      rows_ = std::move(rows);
    });
    return rows_;
  }

  mutable std::once_flag once_;
  mutable CsvTablets rows_;
  mutable std::once_flag statistics_once_;
  mutable std::optional<MemoryStatistics> statistics_;
};

// Says nothing of its rows that it would have to read them all for.
class CsvInParts : public CsvSource, public SourceInParts {
 public:
  using CsvSource::CsvSource;
  std::unique_ptr<PartReader> read_parts() const override { return std::make_unique<CsvPartReader>(file_); }
  int64_t most_rows() const override { return INT64_MAX; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  ColumnSummary group_summary(size_t, size_t) const override {
    ColumnSummary unknown;
    unknown.has_nulls = true;
    unknown.is_bounded = false;
    return unknown;
  }
  const SourceStatistics* sampled_statistics() const override { return nullptr; }
};

std::shared_ptr<const TabletSource> CsvSource::in_parts() const { return std::make_shared<CsvInParts>(file_); }

}  // namespace

std::shared_ptr<const TabletSource> open_csv_source(std::shared_ptr<File> file, const FileOptions& options) {
  return std::make_shared<CsvSource>(
      std::make_shared<const CsvFile>(std::move(file), options, std::span<const ColumnDefinition>()));
}

}  // namespace diptych
