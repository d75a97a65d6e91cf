#include "session/database.h"

#include "base/posix_file_system.h"
#include "base/settings.h"

namespace diptych {

namespace {

std::unique_ptr<Store> open_store(const std::string& path, FileSystem& files, MemoryBudget& budget) {
  if (path.empty() || path == ":memory:") return Store::open_memory(budget, {});
  return Store::open_file(files, budget, path, {});
}

}  // namespace

Database::Database(const std::string& path)
    : own_files_(std::make_unique<PosixFileSystem>()),
      files_(*own_files_),
      budget_(Settings().memory_limit),
      store_(open_store(path, files_, budget_)) {}

Database::Database(const std::string& path, FileSystem& files)
    : files_(files), budget_(Settings().memory_limit), store_(open_store(path, files_, budget_)) {}

}  // namespace diptych
