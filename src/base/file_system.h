// The one way from the project to files: everything that must survive a crash passes through these two interfaces, so
// that tests can put a file system underneath that fails, runs full or loses what was not synced (fault_file_system.h).
//
//   Store ---> FileSystem ---> PosixFileSystem    the operating system
//                         \--> MemoryFileSystem   in memory, with faults from a seed
//
// Errors of every member unless it says otherwise: 53100 disk_full when there is no space left, 58030 io_error for the
// rest, naming the path and what the system said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace diptych {

enum class LockMode : uint8_t {
  Shared,     // beside others who share it
  Exclusive,  // alone
};

// An open file. Thread safety: reads and writes may run at the same time on several threads; bytes that are written and
// read at the same time have either content.
class File {
 public:
  virtual ~File() = default;  // closes, which gives up the lock
  const std::string& path() const { return path_; }

  // Fills all of `into` from `offset` on. Errors: also 58030 when the file ends before.
  void read_at(int64_t offset, std::span<std::byte> into) const;
  // Writes all of `bytes`; a file that ends before grows. After an error any part of them may have been written.
  void write_at(int64_t offset, std::span<const std::byte> bytes);

  virtual int64_t size() const = 0;
  // Cuts or extends (with zeros) the file.
  virtual void truncate(int64_t bytes) = 0;
  // Returns when everything written before is on the disk.
  virtual void sync() = 0;
  // Takes the file until it is closed. Errors: 55006 object_in_use, naming who has it, where that is known, when
  // another has it in a way that does not go with this one.
  virtual void lock(LockMode mode) = 0;
  // A hint that these bytes will be read soon. Never fails.
  virtual void will_read(int64_t offset, int64_t bytes) const = 0;

 protected:
  explicit File(std::string path) : path_(std::move(path)) {}
  // One attempt: reads or writes at least one byte and says how many; read_some says 0 at the end of the file.
  virtual int64_t read_some(int64_t offset, std::span<std::byte> into) const = 0;
  virtual int64_t write_some(int64_t offset, std::span<const std::byte> bytes) = 0;

 private:
  std::string path_;
};

enum class OpenMode {
  Read,             // must exist
  ReadWrite,        // must exist
  Create,           // made when it is not there
  CreateExclusive,  // must not exist
};

// Thread safety: all members may be called by many threads at once.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  // Errors: 58P01 undefined_file when it must exist and does not.
  virtual std::unique_ptr<File> open(const std::string& path, OpenMode mode) = 0;
  virtual bool exists(const std::string& path) = 0;
  virtual void remove(const std::string& path) = 0;
  // Replaces `to` when it is there: at any moment, also after a crash, `to` is the old file or the new one.
  virtual void rename(const std::string& from, const std::string& to) = 0;
  // Returns when creations, renames and removals in the directory of `path` are on the disk.
  virtual void sync_directory(const std::string& path) = 0;
};

// The directory part of a path: "." for a bare name.
std::string directory_of(const std::string& path);

}  // namespace diptych
