// The Result or Append sink of one thread: copies selected rows, straight from the encoded columns where they still are
// encoded, into tablets.
//
//   buffer   65536 row slots of every column
//              |tablet of morsel 3      |tablet of morsel 5 |   free       |     tablets start on multiples of 64 rows
//
// A buffer and the string heaps of its tablets are a batch of the store: as soon as it is full, it may move to a file.
// Values take the form of the column (an Int32 register of a bigint is written as Int64), without re-encoding.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/cpu/frame.h"
#include "engine/rows/host_row_set.h"

namespace diptych::cpu {

// A finished piece of what a section writes, and where its rows come from, in which order pieces are put.
struct MorselPiece {
  size_t morsel;
  StoredPiece rows;
};

class RowWriter {
 public:
  // forms: of the columns that are written, whose registers start at first_register. source: of the section's rows; its
  // rows bound the size of buffers. store: where finished buffers go.
  RowWriter(const Program& program, const Section& section, int first_register, std::span<const PhysicalType> forms,
            const TabletSource& source, std::shared_ptr<ChunkStore> store);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  // Writes the rows that sink from the frame's block; returns how many.
  int64_t write(Frame& frame);
  // The rows since the last call belong to this morsel.
  void finish_morsel(size_t morsel);
  // Rows written since the last finish_morsel().
  int64_t open_rows() const { return morsel_rows_; }

  // Forgets the rows since the last finish_morsel(), and lets go of the buffer.
  void take_back_morsel();

  // What has been written may move to a file; rows that follow go to another buffer.
  void finish();
  std::vector<MorselPiece>& pieces() { return pieces_; }

 private:
  struct Column {
    int register_number = 0;
    PhysicalType physical = PhysicalType::Int32;  // as written
    const Dictionary* dictionary = nullptr;       // not null: strings stay codes of it
    size_t width = 0;                             // bytes a row: values, codes or string offsets
    std::byte* data = nullptr;                    // of the buffer's row 0
    uint64_t* validity = nullptr;                 // of the buffer's row 0
    bool has_nulls = false;                       // in the open tablet
    Chunk heap;                                   // of the open tablet
    size_t heap_bytes = 0;
    size_t coming_bytes = 0;  // of the strings that are being written
  };

  int64_t choose_capacity(int64_t source_rows) const;
  void open_buffer();
  void seal();
  void write_rows(Frame& frame, const RowMask& rows, int count);
  void measure_texts(Frame& frame, const RowMask& rows, Column& column);
  void put_values(Frame& frame, const RowMask& rows, Column& column);
  void put_texts(Frame& frame, const RowMask& rows, Column& column);
  void put_nulls(Frame& frame, const RowMask& rows, int count, Column& column);
  void grow_heap(Column& column, size_t bytes);
  bool is_text_heap(const Column& column) const {
    return column.physical == PhysicalType::Text && column.dictionary == nullptr;
  }

  std::shared_ptr<ChunkStore> store_;
  const size_t most_bytes_;  // of a batch, about
  std::vector<Column> columns_;
  int64_t buffer_rows_ = 0;       // row slots of the buffer; 0: none yet
  int64_t first_ = 0, next_ = 0;  // rows of the open tablet
  int64_t capacity_;
  int64_t morsel_rows_ = 0;
  std::vector<StoredPiece> sealed_;  // of the morsel being written
  std::vector<MorselPiece> pieces_;
  size_t batch_ = 0;
  std::vector<Chunk> chunks_;  // of the batch: the buffer, heaps of sealed tablets
  size_t heap_bytes_ = 0;      // of those heaps
  std::unique_ptr<std::byte[]> scratch_;
};

}  // namespace diptych::cpu
