// The operating system's files.
#pragma once

#include "base/file_system.h"

namespace diptych {

class PosixFileSystem final : public FileSystem {
 public:
  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override;
  bool exists(const std::string& path) override;
  void remove(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void sync_directory(const std::string& path) override;
};

}  // namespace diptych
