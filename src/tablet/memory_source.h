// Tablets in memory as a source of rows: results, the rows of VALUES, tables of a :memory: database.
//
//   add(EncodedTablet) ... add(EncodedTablet)  ->  pin(i, columns): views of the buffers, nothing is copied
//
// Thread safety: add() while nobody else uses the source; everything else from many threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tablet/dictionary.h"
#include "tablet/encoded_tablet.h"
#include "tablet/tablet_source.h"

namespace diptych {

class MemorySource : public TabletSource {
 public:
  explicit MemorySource(std::vector<ColumnDefinition> columns);

  // The tablets' Dictionary columns use a dictionary that the source owns (new_dictionary) or that outlives it.
  void add(EncodedTablet tablet);
  // An empty dictionary that lives as long as the source.
  Dictionary* new_dictionary();
  // One new dictionary for each string column, in the form that TabletBuilder takes.
  std::vector<Dictionary*> new_dictionaries();
  // Keeps something alive as long as this source: what dictionaries of its columns belong to.
  void keep_alive(std::shared_ptr<const void> owner) { kept_.push_back(std::move(owner)); }

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return tablets_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return tablets_[tablet].rows; }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return tablets_[tablet].columns[column].zone; }
  const Dictionary* common_dictionary(size_t column) const override;
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    return tablets_[tablet].columns[column].bytes();
  }
  // Of all tablets.
  int64_t bytes() const;
  std::span<const EncodedTablet> tablets() const { return tablets_; }

 private:
  std::vector<ColumnDefinition> columns_;
  std::vector<std::unique_ptr<Dictionary>> dictionaries_;
  std::vector<std::shared_ptr<const void>> kept_;
  std::vector<EncodedTablet> tablets_;
  std::vector<int64_t> first_positions_;
  int64_t rows_ = 0;
};

}  // namespace diptych
