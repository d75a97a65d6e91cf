#include <tbb/parallel_for.h>

#include "base/error.h"
#include "base/value.h"
#include "io/parquet/parquet_file.h"
#include "tablet/builder.h"
#include "tablet/claimed_zone_maps.h"
#include "tablet/dictionary.h"

namespace diptych {
namespace {

// A row group, decoded and encoded anew.
class DecodedRowGroup : public PinnedTablet {
 public:
  EncodedTablet tablet;
};

// Row groups as tablets. They are encoded the way tables are, so that engines see one form; strings that repeat become
// codes of a dictionary of the source, which grows as row groups are pinned.
class ParquetSource : public TabletSource, public ClaimedZoneMaps {
 public:
  explicit ParquetSource(std::unique_ptr<File> file) : reader_(std::move(file)) {
    for (size_t group = 0; group < reader_.row_group_count(); ++group) {
      if (reader_.rows_in(group) == 0) continue;
      groups_.push_back(group);
      first_row_ids_.push_back(rows_);
      rows_ += reader_.rows_in(group);
    }
    for (const ColumnDefinition& column : reader_.columns()) {
      dictionaries_.push_back(column.type.is_string() ? std::make_unique<Dictionary>() : nullptr);
    }
  }

  const std::vector<ColumnDefinition>& columns() const override { return reader_.columns(); }
  size_t tablet_count() const override { return groups_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return reader_.rows_in(groups_[tablet]); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return reader_.zone_map(groups_[tablet], column); }
  // Whether a row group's strings repeat is not known before it is read.
  const char* read_by_cpu() const override { return "a Parquet file"; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    return reader_.stored_bytes(groups_[tablet], column);
  }

  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    size_t group = groups_[tablet];
    auto pinned = std::make_unique<DecodedRowGroup>();
    pinned->rows = reader_.rows_in(group);
    pinned->first_row_id = first_row_ids_[tablet];
    if (wanted.empty()) {
      reader_.check_rows(group, reader_.smallest_column(group));
      return pinned;
    }
    std::vector<OwnedBatch> pieces = reader_.read(group, wanted, piece_rows);
    std::vector<ColumnDefinition> definitions;
    std::vector<Dictionary*> dictionaries;
    for (size_t column : wanted) {
      definitions.push_back(columns()[column]);
      dictionaries.push_back(dictionaries_[column].get());
    }
    TabletBuilder builder(definitions, pinned->rows, dictionaries, TabletBuilder::most_heap_bytes);
    for (const OwnedBatch& piece : pieces) {
      std::vector<BatchColumn> views = piece.views();
      if (builder.append({piece.rows, views}, 0, piece.rows) < piece.rows) {
        throw Error(SqlState::program_limit_exceeded,
                    "file '" + reader_.path() + "': the strings of a row group are too long");
      }
    }
    pinned->tablet = builder.finish();
    for (size_t i = 0; i < wanted.size(); ++i) {
      check_claim(group, wanted[i], pinned->tablet.columns[i].zone);
      pinned->views.push_back(pinned->tablet.columns[i].view());
    }
    return pinned;
  }

  void confirm(std::span<const TabletColumn> claims) const override {
    tbb::parallel_for(size_t{0}, claims.size(),
                      [&](size_t i) { pin(claims[i].tablet, std::span(&claims[i].column, 1)); });
  }

 private:
  static constexpr int64_t piece_rows = 65536;

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

  ParquetReader reader_;
  std::vector<size_t> groups_;  // those that have rows
  std::vector<int64_t> first_row_ids_;
  int64_t rows_ = 0;
  std::vector<std::unique_ptr<Dictionary>> dictionaries_;  // of string columns; safe for several pins at once
};

}  // namespace

std::shared_ptr<const TabletSource> open_parquet_source(std::unique_ptr<File> file) {
  return std::make_shared<ParquetSource>(std::move(file));
}

}  // namespace diptych
