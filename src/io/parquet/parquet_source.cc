#include <tbb/parallel_for.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/value.h"
#include "io/parquet/parquet_file.h"
#include "io/parquet/parquet_sample.h"
#include "tablet/builder.h"
#include "tablet/claimed_zone_maps.h"
#include "tablet/dictionary.h"
#include "tablet/source_parts.h"

namespace diptych {
namespace {

// A row group, decoded and encoded anew.
class DecodedRowGroup : public PinnedTablet {
 public:
  EncodedTablet tablet;
};

// Rows of a row group, from its beginning or to its end.
struct Slice {
  size_t row_group = 0;
  int64_t first = 0, rows = 0;
};

// Batches of rows in which row groups are decoded; the first of the file is a part of its own.
constexpr int64_t piece_rows = 65536;

struct OpenParquet {
  explicit OpenParquet(std::unique_ptr<File> file) : reader(std::move(file)) {
    for (const ColumnDefinition& column : reader.columns())
      dictionaries.push_back(column.type.is_string() ? std::make_unique<Dictionary>() : nullptr);
  }

  const ParquetReader reader;
  const SourceStatistics& sample() const {
    std::call_once(sample_once_, [this] { sample_.emplace(reader); });
    return *sample_;
  }

  std::vector<std::unique_ptr<Dictionary>> dictionaries;  // of string columns; safe for several pins at once

 private:
  mutable std::once_flag sample_once_;
  mutable std::optional<ParquetSample> sample_;
};

std::vector<Slice> whole_row_groups(const ParquetReader& reader) {
  std::vector<Slice> slices;
  for (size_t group = 0; group < reader.row_group_count(); ++group)
    if (reader.rows_in(group) > 0) slices.push_back({group, 0, reader.rows_in(group)});
  return slices;
}

// Row groups as tablets. They are encoded the way tables are, so that engines see one form; strings that repeat become
// codes of a dictionary of the source, which grows as row groups are pinned.
class ParquetSource : public TabletSource, public ClaimedZoneMaps, public SourceInParts {
 public:
  ParquetSource(std::shared_ptr<const OpenParquet> file, std::vector<Slice> slices)
      : file_(std::move(file)), reader_(file_->reader), slices_(std::move(slices)) {
    for (const Slice& slice : slices_) {
      first_positions_.push_back(rows_);
      rows_ += slice.rows;
    }
  }

  const std::vector<ColumnDefinition>& columns() const override { return reader_.columns(); }
  size_t tablet_count() const override { return slices_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t most_rows() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return slices_[tablet].rows; }
  ZoneMap zone_map(size_t tablet, size_t column) const override {
    return reader_.zone_map(slices_[tablet].row_group, column);
  }
  const char* read_by_cpu() const override { return "a Parquet file"; }
  // Whether a row group's strings repeat is not known before it is read.
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    const Slice& slice = slices_[tablet];
    const double share = static_cast<double>(slice.rows) / static_cast<double>(reader_.rows_in(slice.row_group));
    return static_cast<int64_t>(share * static_cast<double>(reader_.stored_bytes(slice.row_group, column)));
  }
  const SourceStatistics* sampled_statistics() const override { return &file_->sample(); }
  std::unique_ptr<PartReader> read_parts() const override;

  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    const Slice& slice = slices_[tablet];
    auto pinned = std::make_unique<DecodedRowGroup>();
    pinned->rows = slice.rows;
    pinned->first_position = first_positions_[tablet];
    if (wanted.empty()) {
      reader_.check_rows(slice.row_group, reader_.smallest_column(slice.row_group));
      return pinned;
    }
    std::vector<ColumnDefinition> definitions;
    std::vector<Dictionary*> dictionaries;
    for (size_t column : wanted) {
      definitions.push_back(columns()[column]);
      dictionaries.push_back(file_->dictionaries[column].get());
    }
    TabletBuilder builder(definitions, pinned->rows, dictionaries, TabletBuilder::most_heap_bytes);
    int64_t row = 0;
    for (const OwnedBatch& piece : decode(slice, wanted)) {
      std::vector<BatchColumn> views = piece.views();
      const int64_t skipped = std::clamp<int64_t>(slice.first - row, 0, piece.rows);
      row += piece.rows;
      const int64_t rows = piece.rows - skipped;
      if (rows > 0 && builder.append({piece.rows, views}, skipped, rows) < rows) {
        throw Error(SqlState::program_limit_exceeded,
                    "file '" + reader_.path() + "': the strings of a row group are too long");
      }
    }
    pinned->tablet = builder.finish();
    for (size_t i = 0; i < wanted.size(); ++i) {
      check_claim(slice.row_group, wanted[i], pinned->tablet.columns[i].zone);
      pinned->views.push_back(pinned->tablet.columns[i].view());
    }
    return pinned;
  }

  void confirm(std::span<const TabletColumn> claims) const override {
    tbb::parallel_for(size_t{0}, claims.size(),
                      [&](size_t i) { pin(claims[i].tablet, std::span(&claims[i].column, 1)); });
  }

 private:
  // Of the row group's rows, from its first on, those up to the slice's end.
  std::vector<OwnedBatch> decode(const Slice& slice, std::span<const size_t> wanted) const {
    if (slice.first == 0 && slice.rows < reader_.rows_in(slice.row_group))
      return reader_.read_head(slice.row_group, wanted, slice.rows);
    return reader_.read(slice.row_group, wanted, piece_rows);
  }

  // Bounds that the statistics claim have become proofs by now: values outside them would pass unchecked.
  void check_claim(size_t group, size_t column, const ZoneMap& found) const {
    const ZoneMap claimed = reader_.zone_map(group, column);
    if (!claimed.has_bounds || !found.has_bounds) return;
    if (found.low >= claimed.low && found.high <= claimed.high) return;
    const Type& type = columns()[column].type;
    const auto text = [&](int128_t value) { return Value::integral(type, value).to_text(); };
    throw Error(SqlState::data_corrupted, reader_.place_of(column) + ", row group " + std::to_string(group) +
                                              ": its values reach from " + text(found.low) + " to " + text(found.high) +
                                              ", its statistics say from " + text(claimed.low) + " to " +
                                              text(claimed.high));
  }

  const std::shared_ptr<const OpenParquet> file_;
  const ParquetReader& reader_;
  const std::vector<Slice> slices_;
  std::vector<int64_t> first_positions_;
  int64_t rows_ = 0;
};

// The first rows, then all others: of these row groups are decoded when they are pinned, and no sooner.
class ParquetPartReader : public PartReader {
 public:
  ParquetPartReader(std::shared_ptr<const OpenParquet> file, std::vector<Slice> slices)
      : file_(std::move(file)), left_(std::move(slices)) {}

  std::shared_ptr<const TabletSource> next() override {
    if (left_.empty()) return nullptr;
    std::vector<Slice> part = std::exchange(left_, {});
    Slice& first = part.front();
    if (std::exchange(is_first_, false) && first.first == 0 && first.rows > piece_rows) {
      left_ = std::move(part);
      part = {{left_.front().row_group, 0, piece_rows}};
      left_.front().first += piece_rows;
      left_.front().rows -= piece_rows;
    }
    return std::make_shared<ParquetSource>(file_, std::move(part));
  }

 private:
  const std::shared_ptr<const OpenParquet> file_;
  std::vector<Slice> left_;
  bool is_first_ = true;
};

std::unique_ptr<PartReader> ParquetSource::read_parts() const {
  return std::make_unique<ParquetPartReader>(file_, slices_);
}

}  // namespace

std::shared_ptr<const TabletSource> open_parquet_source(std::unique_ptr<File> file) {
  auto opened = std::make_shared<const OpenParquet>(std::move(file));
  std::vector<Slice> slices = whole_row_groups(opened->reader);
  return std::make_shared<ParquetSource>(std::move(opened), std::move(slices));
}

}  // namespace diptych
