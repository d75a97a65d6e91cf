// Sorted rows in a temporary file.
//
//   piece   |row|strings|row|strings|...      rows in order, each a whole number of words (SortLayout::pack)
//   file    |piece 0|piece 1|...
//
// Thread safety: one thread writes; then any number of threads read, each with readers of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/cpu/sort_rows.h"
#include "engine/rows/memory.h"

namespace diptych::cpu {

// Where a piece is.
struct SortPiece {
  int64_t offset = 0;
  int64_t bytes = 0;
};

class SortFile {
 public:
  // Errors: 53100, 58030.
  explicit SortFile(const Memory& memory) : memory_(memory), file_(memory.open_temp_file()) {}

  // Appends one piece.
  class Writer {
   public:
    Writer(SortFile& file, const SortLayout& layout) : file_(file), layout_(layout) {}
    // Errors: 53100, 58030.
    void add(const uint64_t* row);
    void finish();

   private:
    void flush();

    SortFile& file_;
    const SortLayout& layout_;
    std::vector<uint64_t> buffer_;
    SortPiece piece_{-1, 0};
  };

  const std::vector<SortPiece>& pieces() const { return pieces_; }
  const TempFile& bytes() const { return *file_; }

 private:
  const Memory& memory_;
  std::unique_ptr<TempFile> file_;
  std::vector<SortPiece> pieces_;
};

// The rows of one piece in order.
class SortPieceReader {
 public:
  // buffer_bytes: held for the piece; more when a single row is longer. Errors: 53200.
  SortPieceReader(const SortLayout& layout, const SortFile& file, SortPiece piece, size_t buffer_bytes,
                  const Memory& memory);
  // Steps to the next row, the first at first; false behind the last. Errors: 53200, 58030.
  bool next();
  // The row at hand, until next().
  const uint64_t* row() const { return row_; }

 private:
  // Makes the bytes from the row at hand on at least so many.
  void need(size_t bytes);

  const SortLayout* layout_;
  const SortFile* file_;
  SortPiece left_;  // of the piece, not read yet
  const Memory* memory_;
  Chunk buffer_;
  size_t at_ = 0, end_ = 0;  // bytes of the buffer that are to come
  size_t row_bytes_ = 0;     // of the row at hand
  uint64_t* row_ = nullptr;
};

}  // namespace diptych::cpu
