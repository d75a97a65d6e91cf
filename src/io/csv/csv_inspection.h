// What a CSV file looks like: whether its first line is a header, whether its lines end in a delimiter, and for files
// without a table the types of its columns.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_format.h"
#include "tablet/tablet_source.h"

namespace diptych {

struct CsvShape {
  std::vector<ColumnDefinition> columns;
  bool has_header = false;
  size_t header_bytes = 0;   // to skip at the start
  bool extra_field = false;  // each line ends in a delimiter
};

// beginning: the first block of the file, whole rows. fields: the columns that are wanted, or empty: the file's own are
// made up then. Without options.header the first line counts as the header when it holds the names of the fields;
// without fields, when its own fields are distinct words, none of them a value of its column's type. Types that are
// told apart, by all rows of the beginning: bigint, double precision, date and timestamp as ISO writes them, boolean
// (true, false, t, f), text. Errors: 22P04 rows of different lengths.
CsvShape inspect_csv(std::string_view beginning, const FileOptions& options, std::span<const ColumnDefinition> fields);

}  // namespace diptych
