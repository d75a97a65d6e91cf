#include "base/file_system.h"

#include "base/error.h"

namespace diptych {

void File::read_at(int64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    int64_t got = read_some(offset, into);
    if (got == 0) {
      throw Error(SqlState::io_error,
                  "could not read file \"" + path_ + "\": it ends at byte " + std::to_string(offset));
    }
    offset += got;
    into = into.subspan(static_cast<size_t>(got));
  }
}

void File::write_at(int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    int64_t done = write_some(offset, bytes);
    offset += done;
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
}

std::string directory_of(const std::string& path) {
  size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace diptych
