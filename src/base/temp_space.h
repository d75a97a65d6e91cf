// Temporary files: where statements put what doesn't fit into memory.
//
//   statement ---> TempFile    |piece|piece|piece|...      append() says where, read_at() gives back
//                     |  made on first need, has no name any more, gone when closed
//                  TempSpace   one per database: the directory, and how much all files together may take
//
// A file loses its name as soon as it is made, so that the operating system frees it however the process ends. Nothing
// is synced: what is in a temporary file means nothing to the next process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "base/file_system.h"

namespace diptych {

class TempSpace;

// Thread safety: all members may be called by many threads at once. Ends before its space does.
class TempFile {
 public:
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile();

  // Writes behind all that was written before and says where. Errors: 53100 also when the space's limit is reached,
  // 58030.
  int64_t append(std::span<const std::byte> bytes);
  // Errors: 58030.
  void read_at(int64_t offset, std::span<std::byte> into) const;

 private:
  friend class TempSpace;
  TempFile(TempSpace& space, std::unique_ptr<File> file) : space_(space), file_(std::move(file)) {}

  TempSpace& space_;
  std::unique_ptr<File> file_;
  std::atomic<int64_t> bytes_{0};
};

// Thread safety: all members may be called by many threads at once.
class TempSpace {
 public:
  // own_prefix: path and beginning of the name of files as long as no directory is set. `files` outlives the space.
  TempSpace(FileSystem& files, std::string own_prefix) : files_(files), own_prefix_(std::move(own_prefix)) {}

  // Files made from now on lie in this directory; "": at the prefix.
  void set_directory(const std::string& directory);
  // Bytes of all files together; 0: as many as the disk has.
  void set_limit(int64_t bytes) { limit_ = bytes; }
  int64_t used() const { return used_; }

  // A new, empty file. Errors: 53100, 58030, 58P01 no such directory.
  std::unique_ptr<TempFile> open();

 private:
  friend class TempFile;
  void take(int64_t bytes);

  FileSystem& files_;
  const std::string own_prefix_;
  std::mutex mutex_;       // guards directory_
  std::string directory_;  //
  std::atomic<int64_t> limit_{0};
  std::atomic<int64_t> used_{0};
};

}  // namespace diptych
