// Options of data files as COPY and read_csv() spell them.
#pragma once

#include <string>
#include <vector>

#include "io/file_format.h"
#include "sql/syntax_tree.h"

namespace diptych {

// FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, on top of what the path's ending says. position: where to point when
// several of them together are wrong. Errors: 42601 an option that isn't there or is given twice; 22023 a value that it
// can't have, and no format when the path does not say it either; 0A000 for PostgreSQL's others.
FileOptions file_options(const std::string& path, const std::vector<syntax::Option>& options, int position);

struct FileCall {
  std::string path;
  FileOptions options;
};

// read_csv('x', header => true) or read_parquet('x'). Errors: 42883 when the arguments are others, 22023.
FileCall read_file_call(const syntax::Call& call, int position);

}  // namespace diptych
