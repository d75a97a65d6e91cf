// Tablets that the engine has made, as a source: results, groups and sorted rows.
//
//   chunk   |column 0: rows 0..65535 |column 1: ...|      one buffer for all columns of many rows
//   tablet  views of a range of rows of a chunk
//
// Fixed-width columns are Plain, strings are Heap, Dictionary codes of a source's dictionary or, between sections,
// plain dk_texts.
#pragma once

#include <memory>
#include <vector>

#include "engine/cpu/memory.h"
#include "tablet/tablet_source.h"

namespace diptych::cpu {

struct BlockTablet {
  int64_t rows = 0;
  std::vector<ColumnView> views;
};

class BlockSource : public TabletSource {
 public:
  explicit BlockSource(std::vector<ColumnDefinition> columns) : columns_(std::move(columns)) {}

  void add(BlockTablet tablet);
  void keep(Chunk chunk) { chunks_.push_back(std::move(chunk)); }
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  // Leaves rows [offset, offset + limit), limit -1: all from offset on.
  void cut(int64_t offset, int64_t limit, const Memory& memory);

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return tablets_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return tablets_[tablet].rows; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t column) const override;
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

 private:
  // Moves the rows from `first` on to the front of the tablet's columns, so that they are aligned again.
  static void drop_front(BlockTablet& tablet, int64_t first, std::vector<Chunk>& chunks, const Memory& memory);

  std::vector<ColumnDefinition> columns_;
  std::vector<BlockTablet> tablets_;
  std::vector<int64_t> first_rows_;
  std::vector<Chunk> chunks_;
  std::vector<std::shared_ptr<const void>> owners_;
  int64_t rows_ = 0;
};

}  // namespace diptych::cpu
