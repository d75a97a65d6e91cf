// A file that takes its name only when it is complete: written beside the target under another name, renamed in
// commit().
#pragma once

#include <memory>
#include <string>

#include "base/file_system.h"

namespace diptych {

class ReplacedFile {
 public:
  // Errors: 58030; 42809 a directory, pipe or device. /dev/null can't be replaced and is written directly. The file
  // system must outlive this.
  ReplacedFile(FileSystem& files, const std::string& path);
  // Without commit(): removes what was written.
  ~ReplacedFile();
  ReplacedFile(const ReplacedFile&) = delete;
  ReplacedFile& operator=(const ReplacedFile&) = delete;

  File& file() { return *file_; }
  const std::string& path() const { return path_; }
  // Syncs, and puts the file in the target's place. Errors: 53100, 58030.
  void commit();

 private:
  FileSystem& files_;
  std::string path_;
  std::string temporary_path_;  // empty: the target itself is written
  std::unique_ptr<File> file_;
};

}  // namespace diptych
