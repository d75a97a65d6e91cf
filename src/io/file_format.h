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
  std::optional<bool> header;  // the first line names the columns; nothing: the reader looks (a writer writes none)
  bool match_header = false;   // it must name those that are wanted
  char delimiter = ',';        // between fields
  bool lines_end_in_delimiter = false;  // may do so
  std::string null_string;              // an unquoted field that reads so is NULL
  char quote = '"';                     // around fields that hold the delimiter, a quote or a line's end
  char escape = '"';                    // before a quote inside quotes
  bool all_text = false;                // no other types are made out

  bool operator==(const FileOptions&) const = default;
};

// By the ending of the name, in upper or lower case: .parquet and .pq are Parquet; .csv, .tsv and .tbl are CSV with
// their delimiters, and may be compressed (.gz, .zst). Nothing when the name does not say. What has no name of its own,
// /dev/stdin and /dev/fd/63, is CSV.
std::optional<FileOptions> options_for(std::string_view path);
// Whether what is written there would be read as compressed.
bool is_compressed(std::string_view path);

// The endings that say what a file is, for messages.
std::string known_endings();

}  // namespace diptych
