// A row set in host memory: groups, sorted and appended rows, and the result of a program.
//
//   chunk   |column 0: rows 0..65535 |column 1: ...|      one buffer for all columns of many rows
//   piece   views of a range of rows of a chunk: a tablet for who reads it
//   batch   the chunks of some pieces; moves to a temporary file when memory is short, and is read back by pin()
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
#include "engine/rows/row_set.h"
#include "program/program.h"

namespace diptych {

// Rows that are made and belong to no row set yet: views into chunks, or into memory that `owner` keeps.
struct HostPiece {
  int64_t rows = 0;
  std::vector<ColumnView> views;  // plain values, strings of a heap, or codes of a dictionary
  std::vector<Chunk> chunks;
  std::shared_ptr<const void> owner;
};

// A piece of a row set, whose memory is a batch of a store, or others'.
struct StoredPiece {
  int64_t rows = 0;
  std::vector<ColumnView> views;   // of what is, or was, in memory
  std::vector<size_t> heap_bytes;  // by column: of a string heap, whose offsets start at 0
  std::shared_ptr<ChunkStore> store;
  size_t batch = 0;  // in the store
};

class HostRowSet final : public RowSet {
 public:
  // memory: of what is copied later on, and where what is added may go.
  explicit HostRowSet(std::vector<ColumnDefinition> columns, const Memory& memory = Memory())
      : columns_(std::move(columns)), store_(std::make_shared<ChunkStore>(memory)) {}

  // A piece of which store and batch are set.
  void add(StoredPiece piece);
  // Takes the piece over, its chunks and owner, too.
  void add(HostPiece piece);
  // Copies of so many rows of plain columns, codes and strings. Strings go to heaps, so that none is an address and the
  // copy can move to a file. Errors: 53200.
  void add_copy(std::span<const ColumnView> from, int64_t first_row, int64_t rows);
  // Moves what it has to a temporary file, where there may be one, but for pieces that are pinned and what others
  // keep. Errors: 53100, 58030.
  void move_to_file();
  void keep(std::shared_ptr<const void> owner) { owners_.push_back(std::move(owner)); }
  // Whether a piece from `first` on has codes, of a dictionary that is not its own.
  bool has_codes(size_t first) const;
  // Leaves rows [offset, offset + limit), limit -1: all from offset on.
  void cut(int64_t offset, int64_t limit);

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  size_t tablet_count() const override { return pieces_.size(); }
  int64_t row_count() const override { return rows_; }
  int64_t rows_in(size_t tablet) const override { return pieces_[tablet].rows; }
  const Dictionary* common_dictionary(size_t column) const override;
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override;
  int64_t encoded_bytes(size_t tablet, size_t column) const override;

 private:
  static std::unique_ptr<PinnedTablet> pin(const StoredPiece& piece, std::span<const size_t> wanted);

  std::vector<ColumnDefinition> columns_;
  std::vector<StoredPiece> pieces_;
  std::vector<int64_t> first_rows_;
  std::shared_ptr<ChunkStore> store_;
  std::vector<std::shared_ptr<const void>> owners_;
  int64_t rows_ = 0;
};

// The string of a row of a row set's column; empty where it is null.
std::string_view text_at(const ColumnView& view, int64_t row);

// Leaves the rows that the row set is to have.
void cut_rows(const RowSetInfo& info, HostRowSet& rows);

// All rows of a source of plain columns, codes and strings, in host memory of their own; dictionaries have to outlive
// them.
// Errors: 53200, and those of pin().
std::shared_ptr<HostRowSet> copy_rows(const TabletSource& source, const Memory& memory);

}  // namespace diptych
