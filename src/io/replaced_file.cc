#include "io/replaced_file.h"

#include <atomic>
#include <cstdint>

#include <unistd.h>

#include "base/error.h"
#include "io/byte_stream.h"

namespace diptych {
namespace {

std::string temporary_name(const std::string& path) {
  static std::atomic<uint64_t> count{0};
  return path + ".part-" + std::to_string(getpid()) + "-" + std::to_string(count++);
}

}  // namespace

ReplacedFile::ReplacedFile(FileSystem& files, const std::string& path) : files_(files), path_(path) {
  check_is_replaceable(path);
  if (!path.starts_with("/dev/")) temporary_path_ = temporary_name(path);
  file_ = temporary_path_.empty() ? files.open(path, OpenMode::ReadWrite)
                                  : files.open(temporary_path_, OpenMode::CreateExclusive);
}

ReplacedFile::~ReplacedFile() {
  if (file_ == nullptr || temporary_path_.empty()) return;
  file_.reset();
  try {
    files_.remove(temporary_path_);
  } catch (const Error&) {  // the statement has failed already, and says why
  }
}

void ReplacedFile::commit() {
  if (!temporary_path_.empty()) {
    file_->sync();
    files_.rename(temporary_path_, path_);
    file_.reset();
    files_.sync_directory(path_);
  }
  file_.reset();
}

}  // namespace diptych
