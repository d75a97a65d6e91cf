#include "base/posix_file_system.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace diptych {
namespace {

[[noreturn]] void fail(const char* verb, const std::string& path, int code) {
  SqlState state = SqlState::io_error;
  if (code == ENOSPC || code == EDQUOT) state = SqlState::disk_full;
  if (code == ENOENT) state = SqlState::undefined_file;
  throw Error(state, std::string("could not ") + verb + " \"" + path + "\": " + std::strerror(code));
}

// Repeats a system call while a signal interrupts it.
template <typename Call>
auto retry(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// A process by its number and, where the system tells it, its name.
std::string process_text(long number) {
  if (number == ::getpid()) return "this process";
  std::string name;
  std::getline(std::ifstream("/proc/" + std::to_string(number) + "/comm"), name);
  return "process " + std::to_string(number) + (name.empty() ? "" : " (" + name + ")");
}

// Who has a lock on the file, as Linux lists it: "1: FLOCK ADVISORY WRITE <process> <major>:<minor>:<inode> ...", the
// device in hexadecimal digits.
std::string lock_holder(const struct stat& file) {
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    long process = 0;
    unsigned major = 0, minor = 0;
    unsigned long long inode = 0;
    const int found = std::sscanf(line.c_str(), "%*s FLOCK %*s %*s %ld %x:%x:%llu", &process, &major, &minor, &inode);
    if (found == 4 && process > 0 && inode == file.st_ino && ::gnu_dev_makedev(major, minor) == file.st_dev)
      return process_text(process);
  }
  return "another process";
}

class PosixFile final : public File {
 public:
  PosixFile(std::string path, int descriptor) : File(std::move(path)), descriptor_(descriptor) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { ::close(descriptor_); }

  int64_t size() const override { return examine().st_size; }

  void truncate(int64_t bytes) override {
    if (retry([&] { return ::ftruncate(descriptor_, bytes); }) < 0) fail("truncate file", path(), errno);
  }

  void sync() override {
    if (retry([&] { return ::fdatasync(descriptor_); }) < 0) fail("sync file", path(), errno);
  }

  void lock(LockMode mode) override {
    const int operation = mode == LockMode::Shared ? LOCK_SH : LOCK_EX;
    if (retry([&] { return ::flock(descriptor_, operation | LOCK_NB); }) == 0) return;
    if (errno != EWOULDBLOCK) fail("lock file", path(), errno);
    throw Error(SqlState::object_in_use, "database file \"" + path() + "\" is in use by " + lock_holder(examine()));
  }

  void will_read(int64_t offset, int64_t bytes) const override {
    // Linux cuts one such request to the read-ahead size of the disk, by default 128 KiB.
    constexpr int64_t piece = 128 << 10;
    for (int64_t end = offset + bytes; offset < end; offset += piece) {
      ::posix_fadvise(descriptor_, offset, std::min(piece, end - offset), POSIX_FADV_WILLNEED);
    }
  }

  struct stat examine() const {
    struct stat status {};
    if (retry([&] { return ::fstat(descriptor_, &status); }) < 0) fail("examine file", path(), errno);
    return status;
  }

 protected:
  int64_t read_some(int64_t offset, std::span<std::byte> into) const override {
    ssize_t got = retry([&] { return ::pread(descriptor_, into.data(), std::min(into.size(), max_transfer), offset); });
    if (got < 0) fail("read file", path(), errno);
    return got;
  }

  int64_t write_some(int64_t offset, std::span<const std::byte> bytes) override {
    ssize_t done =
        retry([&] { return ::pwrite(descriptor_, bytes.data(), std::min(bytes.size(), max_transfer), offset); });
    if (done < 0) fail("write file", path(), errno);
    if (done == 0) fail("write file", path(), EIO);
    return done;
  }

 private:
  // Linux moves at most 2 GiB less a page in one call.
  static constexpr size_t max_transfer = size_t{1} << 30;
  int descriptor_;
};

int flags_of(OpenMode mode) {
  switch (mode) {
    case OpenMode::Read: return O_RDONLY;
    case OpenMode::ReadWrite: return O_RDWR;
    case OpenMode::Create: return O_RDWR | O_CREAT;
    case OpenMode::CreateExclusive: return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

}  // namespace

std::unique_ptr<File> PosixFileSystem::open(const std::string& path, OpenMode mode) {
  int descriptor = retry([&] { return ::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0666); });
  if (descriptor < 0) fail("open file", path, errno);
  return std::make_unique<PosixFile>(path, descriptor);
}

bool PosixFileSystem::exists(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  fail("examine file", path, errno);
}

void PosixFileSystem::remove(const std::string& path) {
  if (::unlink(path.c_str()) < 0) fail("remove file", path, errno);
}

void PosixFileSystem::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) < 0) fail("rename file", from, errno);
}

void PosixFileSystem::sync_directory(const std::string& path) {
  std::string directory = directory_of(path);
  int descriptor = retry([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (descriptor < 0) fail("open directory", directory, errno);
  int result = retry([&] { return ::fsync(descriptor); });
  int code = errno;
  ::close(descriptor);
  // EINVAL: a file system that can't sync directories; there is nothing more to be done about it.
  if (result < 0 && code != EINVAL) fail("sync directory", directory, code);
}

}  // namespace diptych
