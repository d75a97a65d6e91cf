// What a CSV file looks like: whether its first line is a header, whether its lines end in a delimiter, and for files
// without a table the types of its columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/csv/csv_parser.h"
#include "io/file_format.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct CsvShape {
  std::vector<ColumnDefinition> columns;
  bool has_header = false;
  size_t header_bytes = 0;   // to skip at the start
  int64_t header_lines = 0;  // in them
  bool extra_field = false;  // each line ends in a delimiter
  bool ended = false;        // the first line says that there are no data
};

// beginning: the first block of the file. fields: the columns that are wanted, or empty: the file's own are made up
// then. Without options.header the first line counts as the header when it holds the names of the fields; without
// fields, when its own fields are distinct words, none of them a value of its column's type. A column has the first
// type of csv_detection.h that keeps every field of the beginning; text when none does, or no row has a value. path:
// for messages. Errors: 22021, 22P04 in the first line.
CsvShape inspect_csv(const CsvBlock& beginning, const FileOptions& options, std::span<const ColumnDefinition> fields,
                     const std::string& path);

}  // namespace diptych
