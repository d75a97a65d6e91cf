// Finds the rows and fields of CSV text, as COPY of PostgreSQL 15 finds them:
//
//   bytes   1,"a ""b""",x"y"z\n2,,\n      fields   1 | a "b" (quoted) | xyz (quoted)
//                                                  2 |                |
//
// Quotes may begin and end anywhere in a field. The first line's end says how all lines end. `\.` alone on a line ends
// the data. The text of a quoted field is put together in place, over the bytes that it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file_format.h"
#include "tablet/aligned_buffer.h"

namespace diptych {

enum class LineEnd : uint8_t { Unknown, Newline, Return, ReturnNewline };

// Where a field's text is among the bytes.
class CsvField {
 public:
  CsvField(size_t offset, size_t size, bool quoted)
      : offset_(static_cast<uint32_t>(offset)), size_(static_cast<uint32_t>(size) << 1 | (quoted ? 1U : 0U)) {}
  std::string_view text(const char* bytes) const { return {bytes + offset_, size_ >> 1}; }
  bool is_quoted() const { return (size_ & 1) != 0; }

 private:
  uint32_t offset_;
  uint32_t size_;  // times two, plus one for a field with quotes
};

// The first thing in a stretch of text that is not as it should be.
struct CsvFailure {
  int64_t row = 0;      // in the stretch, from 0
  int64_t column = -1;  // of the row: the first of several failures counts; -1: the row as a whole
  SqlState state;
  std::string message;  // what follows "file 'x.csv', line 5"
};

// Rows of equally many fields each, one behind the other.
struct CsvRows {
  AlignedBuffer fields;
  int64_t rows = 0;           // a row that is too short is among them, with empty fields
  size_t last_row_count = 0;  // fields that the last row has in the text
  size_t used = 0;            // bytes up to the end of the last row
  LineEnd line_end = LineEnd::Unknown;
  bool ended = false;                 // by `\.`: what follows is no data
  std::vector<int64_t> broken_lines;  // for each line's end inside quotes, its row
  std::optional<CsvFailure> failure;

  const CsvField* field(size_t index) const { return fields.as<CsvField>() + index; }
  // Lines before a row.
  int64_t lines_before(int64_t row) const;
};

struct CsvTask {
  size_t fields = 0;                    // of a row
  LineEnd line_end = LineEnd::Unknown;  // as the rows before say
  bool last = false;                    // the text ends with these bytes: the last row may lack its line's end
  int64_t most_rows = INT64_MAX;        // are read, from the beginning
};

// Errors (in the failure): 22P04 a row with another count of fields, a quote that is not closed, a line that ends
// another way; 22021 a byte that is zero or no UTF-8.
CsvRows read_csv_rows(std::span<char> bytes, const FileOptions& options, const CsvTask& task);

// Bytes up to the end of the last row that is whole; 0 when there is none. The bytes start outside quotes.
size_t whole_csv_rows(std::string_view bytes, const FileOptions& options, LineEnd line_end);
// Bytes before the first that is zero or no UTF-8; all when there is none.
size_t count_valid_bytes(std::string_view bytes);
// How the first line ends; Unknown when the bytes end before that can be told.
LineEnd find_line_end(std::string_view bytes, const FileOptions& options, bool last);

}  // namespace diptych
