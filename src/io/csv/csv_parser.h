// From the bytes of a block to columns in register form. Arrow's parser finds rows and fields; what a field means is
// csv_values.h.
#pragma once

#include <arrow/csv/parser.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/file_format.h"
#include "io/owned_batch.h"
#include "tablet/tablet_source.h"

namespace diptych {

// The first thing in a block that is not as it should be.
struct CsvFailure {
  int64_t row = 0;  // in the block, from 0
  SqlState state;
  std::string message;  // what follows "file 'x.csv', line 5"
};

struct ParsedBlock {
  std::vector<OwnedBatch> batches;
  int64_t rows = 0;
  std::optional<CsvFailure> failure;
};

// Thread safety: const members may be called by many threads at once.
class CsvParser {
 public:
  // fields: those of a row. extra_field: each row ends in one more, empty field (a delimiter at the line's end), which
  // is dropped.
  CsvParser(const FileOptions& options, std::vector<ColumnDefinition> fields, bool extra_field);

  const std::vector<ColumnDefinition>& fields() const { return fields_; }
  // bytes: whole rows; the last one may lack its line's end in the last block.
  ParsedBlock parse(std::string_view bytes, bool last, std::span<const size_t> wanted) const;

 private:
  bool parse_rows(arrow::csv::BlockParser& parser, std::span<const size_t> wanted, ParsedBlock& block) const;
  OwnedColumn read_column(const arrow::csv::BlockParser& parser, size_t field, ParsedBlock& block) const;

  FileOptions options_;
  std::vector<ColumnDefinition> fields_;
  bool extra_field_;
};

arrow::csv::ParseOptions parse_options_of(const FileOptions& options);

// The fields of the first row, and how many bytes it takes. Nothing when there is no row.
struct CsvFirstRow {
  std::vector<std::string> fields;
  size_t bytes = 0;
};
std::optional<CsvFirstRow> read_first_row(std::string_view bytes, const FileOptions& options);

}  // namespace diptych
