// Tablets that the engine has made, as a source: results, groups and sorted rows.
//
//   chunk   |column 0: rows 0..65535 |column 1: ...|      one buffer for all columns of many rows
//   tablet  views of a range of rows of a chunk
//   batch   the chunks of some tablets; moves to a temporary file when memory is short, and is read back by pin()
//
// Fixed-width columns are Plain, strings are Heap, Dictionary codes of a source's dictionary or, between sections,
// plain dk_texts.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/rows/chunk_store.h"
#include "engine/rows/memory.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct BlockTablet {
  int64_t rows = 0;
  std::vector<ColumnView> views;   // of what is, or was, in memory
  std::vector<size_t> heap_bytes;  // by column: of a string heap, whose offsets start at 0
  std::shared_ptr<ChunkStore> store;
  size_t batch = 0;  // in the store
};

class BlockSource : public TabletSource {
 public:
  // memory: of what is copied later on, and where what is added may go.
  explicit BlockSource(std::vector<ColumnDefinition> columns, const Memory& memory = Memory())
      : columns_(std::move(columns)), store_(std::make_shared<ChunkStore>(memory)) {}

  // A tablet of which store and batch are set.
  void add(BlockTablet tablet);
  // Rows and views of a tablet that lies in these chunks.
  void add(int64_t rows, std::vector<ColumnView> views, std::vector<Chunk> chunks);
  // The same of a tablet that the owner keeps.
  void add(int64_t rows, std::vector<ColumnView> views, std::shared_ptr<const void> owner) {
    keep(std::move(owner));
    add(rows, std::move(views), std::vector<Chunk>());
  }
  // Copies of so many rows of plain columns, codes and strings. Strings go to heaps, so that none is an address and the
  // copy can move to a file. Errors: 53200.
  void add_copy(std::span<const ColumnView> from, int64_t first_row, int64_t rows);
  // Moves what it has to a temporary file, where there may be one, but for tablets that are pinned and what others
  // keep. Errors: 53100, 58030.
  void move_to_file();
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  // Whether a tablet from `first` on has codes, of a dictionary that is not its own.
  bool has_codes(size_t first) const;
  // Leaves rows [offset, offset + limit), limit -1: all from offset on.
  void cut(int64_t offset, int64_t limit);

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return tablets_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return tablets_[tablet].rows; }
  ZoneMap zone_map(size_t, size_t) const override { return {}; }
  const Dictionary* common_dictionary(size_t column) const override;
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

 private:
  static std::unique_ptr<PinnedTablet> pin(const BlockTablet& tablet, std::span<const size_t> wanted);

  std::vector<ColumnDefinition> columns_;
  std::vector<BlockTablet> tablets_;
  std::vector<int64_t> first_rows_;
  std::shared_ptr<ChunkStore> store_;
  std::vector<std::shared_ptr<const void>> owners_;
  int64_t rows_ = 0;
};

// All rows of a source of plain columns, codes and strings, in memory of their own; dictionaries have to outlive them.
// Errors: 53200, and those of pin().
std::shared_ptr<BlockSource> copy_rows(const TabletSource& source, const Memory& memory);

}  // namespace diptych
