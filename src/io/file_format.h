// How a data file is to be read or written: what COPY's options, read_csv() and the file's name say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace diptych {

enum class FileFormat : uint8_t { Csv, Parquet };

struct FileOptions {
  FileFormat format = FileFormat::Csv;
  // The rest is for CSV alone.
  std::optional<bool>
      header;               // the first line names the columns; nothing: the reader looks (a writer then writes none)
  char delimiter = ',';     // between fields
  std::string null_string;  // an unquoted field that reads so is NULL
  char quote = '"';         // around fields that hold the delimiter, a quote or a line's end
  char escape = '"';        // before a quote inside quotes
};

// By the ending of the name: .parquet is Parquet, anything else CSV (.tsv and .tbl with their delimiters).
FileOptions options_for(std::string_view path);

}  // namespace diptych
