#include "session/database.h"

#include <cstdlib>

#include "base/posix_file_system.h"
#include "base/settings.h"

namespace diptych {

namespace {

bool is_in_memory(const std::string& path) { return path.empty() || path == ":memory:"; }

// What the names of temporary files start with. Beside a file that is only read nothing is written.
std::string temp_prefix(const std::string& path, bool is_read_only = false) {
  if (!is_in_memory(path) && !is_read_only) return path + ".tmp-";
  const char* directory = std::getenv("TMPDIR");
  return std::string(directory != nullptr && *directory != 0 ? directory : "/tmp") + "/diptych.tmp-";
}

std::unique_ptr<Store> open_store(const std::string& path, FileSystem& files, MemoryBudget& budget,
                                  bool is_read_only = false) {
  if (is_in_memory(path)) return Store::open_memory(budget, {});
  return Store::open_file(files, budget, path, {.is_read_only = is_read_only});
}

}  // namespace

Database::Database(const std::string& path, bool is_read_only)
    : own_files_(std::make_unique<PosixFileSystem>()),
      files_(*own_files_),
      budget_(Settings().memory_limit),
      temp_(files_, temp_prefix(path, is_read_only)),
      store_(open_store(path, files_, budget_, is_read_only)) {}

Database::Database(const std::string& path, FileSystem& files)
    : files_(files),
      budget_(Settings().memory_limit),
      temp_(files_, temp_prefix(path)),
      store_(open_store(path, files_, budget_)) {}

Database::Database(const std::string& path, FileSystem& files, std::vector<std::unique_ptr<DeviceDriver>> drivers)
    : files_(files),
      budget_(Settings().memory_limit),
      temp_(files_, temp_prefix(path)),
      store_(open_store(path, files_, budget_)),
      engines_(std::move(drivers), calibration_path()) {}

}  // namespace diptych
