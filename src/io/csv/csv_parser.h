// From the bytes of a block to columns in register form. csv_tokenizer.h finds rows and fields; what a field means is
// csv_values.h.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/csv/csv_tokenizer.h"
#include "io/file_format.h"
#include "io/owned_batch.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct CsvBlock {
  std::string bytes;                    // whole rows
  LineEnd line_end = LineEnd::Unknown;  // as the file's first line ends
  bool last = false;                    // nothing follows: the last row may lack its line's end
  bool has_row_end = true;              // false: the bytes are less than a row, and too many for one
};

struct ParsedBlock {
  OwnedBatch batch;    // the rows before the failure
  int64_t lines = 0;   // that the block takes in the file
  bool ended = false;  // the block says that the data end here
  std::optional<CsvFailure> failure;
  int64_t failure_line = 0;  // lines of the block before it
};

// How fields become values: as PostgreSQL reads them, or as csv_detection.h does.
enum class CsvValues : uint8_t { Cast, Detected };

// Thread safety: const members may be called by many threads at once.
class CsvParser {
 public:
  // fields: those of a row. extra_field: each row ends in one more, empty field (a delimiter at the line's end), which
  // is dropped.
  CsvParser(const FileOptions& options, std::vector<ColumnDefinition> fields, bool extra_field, CsvValues values);

  const std::vector<ColumnDefinition>& fields() const { return fields_; }
  // Puts texts together over the block's bytes.
  ParsedBlock parse(CsvBlock& block, std::span<const size_t> wanted) const;

 private:
  FileOptions options_;
  std::vector<ColumnDefinition> fields_;
  bool extra_field_;
  CsvValues values_;
};

}  // namespace diptych
