// Columns of a tablet back in register form, as a batch that a TabletBuilder takes: all rows, or those that are there.
//
//   views  base 100, codes 16 35 7   bits 1 0 1   -->   batch  1700 800
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tablet/cells.h"
#include "tablet/row_batch.h"

namespace diptych {

// Owns the decoded values; what needs no decoding is viewed, so the views must stay valid.
class DecodedRows {
 public:
  // How strings of a dictionary are given.
  enum class Texts : uint8_t { Codes, Strings };

  DecodedRows(std::span<const ColumnView> views, int64_t rows, Texts texts = Texts::Codes);
  // Of the rows those whose bit is 1.
  DecodedRows(std::span<const ColumnView> views, int64_t rows, const uint8_t* live);
  RowBatch batch() const { return {rows_, columns_}; }

 private:
  BatchColumn decode(const ColumnView& view);
  const void* decode_values(const ColumnView& view);
  template <typename T>
  const void* copy_plain(const ColumnView& view);
  template <typename T>
  const void* decode_framed(const ColumnView& view);
  const int32_t* copy_codes(const ColumnView& view);
  void copy_texts(const ColumnView& view, BatchColumn& column);
  const uint8_t* copy_validity(const ColumnView& view);
  template <typename Use>
  void for_each_row(Use use) const;
  template <typename T>
  T* memory(int64_t count);

  int64_t rows_;
  bool has_all_ = true;
  Texts texts_ = Texts::Codes;
  std::vector<uint32_t> slots_;  // of the rows, unless it has all
  std::vector<BatchColumn> columns_;
  std::vector<std::unique_ptr<std::byte[]>> memory_;
};

}  // namespace diptych
