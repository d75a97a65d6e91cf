#include "io/file_format.h"

#include <array>

namespace diptych {
namespace {

// What a file's name ends in, once the ending of a compression is taken off.
struct Ending {
  std::string_view text;
  FileFormat format;
  char delimiter;
};

constexpr std::array endings = {
    Ending{".parquet", FileFormat::Parquet, ','}, Ending{".pq", FileFormat::Parquet, ','},
    Ending{".csv", FileFormat::Csv, ','},         Ending{".tsv", FileFormat::Csv, '\t'},
    Ending{".tbl", FileFormat::Csv, '|'},
};

}  // namespace

FileOptions options_for(std::string_view path) {
  for (std::string_view compressed : {".gz", ".zst"}) {
    if (path.ends_with(compressed)) path.remove_suffix(compressed.size());
  }
  FileOptions options;
  for (const Ending& ending : endings) {
    if (!path.ends_with(ending.text)) continue;
    options.format = ending.format;
    options.delimiter = ending.delimiter;
  }
  return options;
}

}  // namespace diptych
