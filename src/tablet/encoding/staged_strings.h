// A column of strings being built. It starts each tablet in the hope of a dictionary and falls back to the heap:
//
//   numbers  the strings met so far are numbered locally; finish() translates local numbers to the dictionary's codes
//   codes    of the dictionary, while all rows come with them, as those of the table itself do
//   heap     offsets and bytes, as the tablet will have them
//
// The local numbering outlives the tablet, so that the shared dictionary (and its lock) is asked once per string, not
// per row.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tablet/encoding/staged_column.h"
#include "tablet/encoding/string_numbering.h"

namespace diptych {

class StagedStrings : public StagedColumn {
 public:
  StagedStrings(int64_t capacity, Dictionary* dictionary, int64_t heap_bytes);

  int64_t rows_that_fit(const BatchColumn& column, int64_t first, int64_t count) const override;
  void append(const BatchColumn& column, int64_t first, int64_t count) override;
  EncodedColumn finish(UsualForm form) override;
  int64_t bytes() const override;

 private:
  // Rows before `count` that could be numbered; fewer when the strings turn out not to repeat.
  int64_t append_numbered(const BatchColumn& column, int64_t first, int64_t count);
  int64_t append_numbers(const BatchColumn& column, int64_t first, int64_t count);
  int64_t append_translated(const BatchColumn& column, int64_t first, int64_t count);
  int64_t append_codes(const BatchColumn& column, int64_t first, int64_t count);
  // Numbers the rows so far, which have codes; false when their strings turn out not to repeat.
  bool number_codes();
  // Room for so many rows more.
  uint32_t* more_rows(int64_t count);
  void append_to_heap(const BatchColumn& column, int64_t first, int64_t count);
  void append_block_to_heap(const BatchColumn& column, int64_t first, int64_t count);
  void push_to_heap(std::string_view text);
  // The local number, or -1 when the string makes this column unfit for the dictionary.
  int64_t number_of(std::string_view text);
  // Moves the rows with numbers or codes so far to the heap.
  void give_up_numbers();
  // Gives every local number its dictionary code; false when the dictionary takes no more.
  bool translate_numbers();
  // Of rows with numbers, in their place.
  void look_up_codes();
  void write_codes(UsualForm form, EncodedColumn& column);

  int64_t capacity_;
  int64_t heap_bytes_;  // that take no more rows
  Dictionary* dictionary_;
  bool numbering_;
  int tablets_to_skip_ = 0;           // to go to the heap before the dictionary is tried again
  StringNumbering numbers_;           // local number <-> string
  std::vector<uint32_t> codes_;       // local number -> dictionary code, for the first numbers
  std::vector<int64_t> translation_;  // a batch's code -> local number
  uint64_t translated_ = 0;           // id of the dictionary that the codes are of; 0: of none that lasts
  AlignedBuffer numbered_rows_;       // uint32 local number or code a row, while numbering
  bool has_codes_ = false;            // rather than local numbers
  AlignedBuffer offsets_, heap_;      // otherwise
};

}  // namespace diptych
