// Tablets of other sources, with ids as the test chooses: what a table has after a statement that changed it.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tablet/tablet_source.h"

namespace diptych::testing {

class ChosenTablets final : public TabletSource {
 public:
  struct Tablet {
    uint64_t id = 0;
    std::shared_ptr<const TabletSource> source;
    size_t number = 0;  // there
  };
  explicit ChosenTablets(std::vector<Tablet> tablets) : tablets_(std::move(tablets)) {}

  const std::vector<ColumnDefinition>& columns() const override { return tablets_[0].source->columns(); }
  size_t tablet_count() const override { return tablets_.size(); }
  int64_t row_count() const override {
    int64_t rows = 0;
    for (size_t tablet = 0; tablet < tablets_.size(); ++tablet) rows += rows_in(tablet);
    return rows;
  }
  int64_t rows_in(size_t tablet) const override { return at(tablet).source->rows_in(at(tablet).number); }
  ZoneMap zone_map(size_t tablet, size_t column) const override {
    return at(tablet).source->zone_map(at(tablet).number, column);
  }
  uint64_t tablet_id(size_t tablet) const override { return at(tablet).id; }
  const Dictionary* common_dictionary(size_t) const override { return nullptr; }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    ++pins_;
    return at(tablet).source->pin(at(tablet).number, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override {
    return at(tablet).source->encoded_bytes(at(tablet).number, column);
  }
  // Calls of pin().
  int64_t pins() const { return pins_; }

 private:
  const Tablet& at(size_t tablet) const { return tablets_[tablet]; }

  std::vector<Tablet> tablets_;
  mutable int64_t pins_ = 0;
};

}  // namespace diptych::testing
