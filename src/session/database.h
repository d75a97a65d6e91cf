// A database that is open: its storage, its memory and what all its connections share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/block_pool.h"
#include "base/file_system.h"
#include "base/memory_budget.h"
#include "base/temp_space.h"
#include "engine/engines.h"
#include "storage/store.h"

namespace diptych {

// Thread safety: all members may be called by many threads at once. Connections must end before their database.
class Database {
 public:
  // path ":memory:" or "": a private database in memory. is_read_only: a file that is only read, beside other processes
  // that do so. Errors: as Store::open_file.
  explicit Database(const std::string& path, bool is_read_only = false);
  // On another file system, for tests. `files` outlives the database.
  Database(const std::string& path, FileSystem& files);
  // With drivers of devices, too: CUDA's, then OpenCL's.
  Database(const std::string& path, FileSystem& files, std::vector<std::unique_ptr<DeviceDriver>> drivers);

  Store& store() { return *store_; }
  FileSystem& files() { return files_; }
  MemoryBudget& budget() { return budget_; }
  BlockPool& pool() { return pool_; }
  TempSpace& temp() { return temp_; }
  Engines& engines() { return engines_; }

 private:
  std::unique_ptr<FileSystem> own_files_;
  FileSystem& files_;
  MemoryBudget budget_;
  BlockPool pool_{budget_};
  TempSpace temp_;
  std::unique_ptr<Store> store_;
  Engines engines_;
};

}  // namespace diptych
