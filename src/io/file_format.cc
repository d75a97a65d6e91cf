#include "io/file_format.h"

#include <algorithm>
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
    Ending{".csv", FileFormat::Csv, ','},    Ending{".tsv", FileFormat::Csv, '\t'},
    Ending{".tbl", FileFormat::Csv, '|'},    Ending{".parquet", FileFormat::Parquet, ','},
    Ending{".pq", FileFormat::Parquet, ','},
};

constexpr std::array<std::string_view, 2> compressions = {".gz", ".zst"};

// What has no name of its own: the standard input, and what a shell passes as <(command).
constexpr std::array<std::string_view, 4> nameless = {"/dev/stdin", "/dev/stdout", "/dev/fd/", "/proc/self/fd/"};

bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - static_cast<ptrdiff_t>(ending.size()),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b + 32 : b); });
}

}  // namespace

bool is_compressed(std::string_view path) {
  return std::any_of(compressions.begin(), compressions.end(),
                     [path](std::string_view ending) { return ends_in(path, ending); });
}

std::optional<FileOptions> options_for(std::string_view path) {
  const bool compressed = is_compressed(path);
  if (compressed) path = path.substr(0, path.rfind('.'));
  FileOptions options;
  for (const Ending& ending : endings) {
    if (!ends_in(path, ending.text) || (compressed && ending.format == FileFormat::Parquet)) continue;
    options.format = ending.format;
    options.delimiter = ending.delimiter;
    options.lines_end_in_delimiter = ending.delimiter == '|';
    return options;
  }
  const bool is_nameless = std::any_of(nameless.begin(), nameless.end(),
                                       [path](std::string_view beginning) { return path.starts_with(beginning); });
  return is_nameless && !compressed ? std::optional(options) : std::nullopt;
}

std::string known_endings() {
  std::string text;
  for (const Ending& ending : endings) {
    text += (text.empty() ? "" : ", ") + std::string(ending.text);
    if (ending.format != FileFormat::Csv) continue;
    for (std::string_view compression : compressions)
      text += ", " + std::string(ending.text) + std::string(compression);
  }
  return text;
}

}  // namespace diptych
