#include "io/byte_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace diptych {
namespace {

[[noreturn]] void fail(const char* verb, const std::string& path, int code) {
  throw Error(code == ENOENT ? SqlState::undefined_file : SqlState::io_error,
              std::string("could not ") + verb + " \"" + path + "\": " + std::strerror(code));
}

class Pipe final : public ByteStream {
 public:
  // Opening does not wait for a writer: read() does, where it can be cancelled.
  explicit Pipe(const std::string& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (descriptor_ < 0) fail("open pipe", path, errno);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() override { ::close(descriptor_); }

  int64_t read(std::span<std::byte> into, const std::atomic<bool>* cancelled) override {
    constexpr int wait_ms = 20;  // for which somebody who cancels may have to wait
    while (true) {
      if (cancelled != nullptr && cancelled->load(std::memory_order_relaxed))
        throw Error(SqlState::query_canceled, "canceling statement due to user request");
      pollfd wait{descriptor_, POLLIN, 0};
      const int ready = ::poll(&wait, 1, wait_ms);
      if (ready < 0 && errno != EINTR) fail("wait for pipe", path_, errno);
      if (ready <= 0) continue;
      const ssize_t got = ::read(descriptor_, into.data(), into.size());
      if (got >= 0) return got;
      if (errno != EINTR && errno != EAGAIN) fail("read pipe", path_, errno);
    }
  }

 private:
  std::string path_;
  int descriptor_;
};

enum class Kind { Missing, Plain, Null, Pipe };

[[noreturn]] void refuse(const std::string& path, const char* what) {
  throw Error(SqlState::wrong_object_type, "\"" + path + "\" is " + what);
}

Kind kind_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return Kind::Missing;
    fail("examine file", path, errno);
  }
  if (S_ISREG(status.st_mode)) return Kind::Plain;
  if (S_ISFIFO(status.st_mode)) return Kind::Pipe;
  if (S_ISDIR(status.st_mode)) refuse(path, "a directory");
  if (S_ISSOCK(status.st_mode)) refuse(path, "a socket");
  constexpr unsigned null_major = 1, null_minor = 3;
  if (S_ISCHR(status.st_mode) && status.st_rdev == makedev(null_major, null_minor)) return Kind::Null;
  refuse(path, "a terminal or another device");
}

}  // namespace

std::unique_ptr<ByteStream> open_byte_stream(const std::string& path) {
  return kind_of(path) == Kind::Pipe ? std::make_unique<Pipe>(path) : nullptr;
}

void check_is_replaceable(const std::string& path) {
  if (kind_of(path) == Kind::Pipe) refuse(path, "a pipe, and COPY TO writes files");
}

}  // namespace diptych
