#include "base/temp_space.h"

#include <fmt/format.h>

#include <random>

#include "base/error.h"

namespace diptych {
namespace {

// The error of a file operation, with what can be done about it.
[[noreturn]] void rethrow_with_hint(const Error& error) {
  throw Error(error.state(), error.message(), error.position(),
              error.state() == SqlState::disk_full
                  ? "The statement needs temporary files: free space, set temp_directory or raise memory_limit."
                  : "The statement needs temporary files: set temp_directory or raise memory_limit.");
}

// So many that two processes on one directory do not meet.
std::string random_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

}  // namespace

TempFile::~TempFile() { space_.used_ -= bytes_; }

int64_t TempFile::append(std::span<const std::byte> bytes) {
  const auto count = static_cast<int64_t>(bytes.size());
  space_.take(count);
  const int64_t offset = bytes_.fetch_add(count);
  try {
    file_->write_at(offset, bytes);
  } catch (const Error& error) {
    rethrow_with_hint(error);
  }
  return offset;
}

void TempFile::read_at(int64_t offset, std::span<std::byte> into) const { file_->read_at(offset, into); }

void TempSpace::set_directory(const std::string& directory) {
  std::lock_guard guard(mutex_);
  directory_ = directory;
}

std::unique_ptr<TempFile> TempSpace::open() {
  std::string path;
  {
    std::lock_guard guard(mutex_);
    path = (directory_.empty() ? own_prefix_ : directory_ + "/diptych.tmp-") + random_name();
  }
  try {
    std::unique_ptr<File> file = files_.open(path, OpenMode::CreateExclusive);
    try {
      files_.remove(path);
    } catch (const Error&) {
      // Once more: an interrupted network file system may do it now. If not, the statement fails and the file, still
      // empty, stays.
      files_.remove(path);
    }
    return std::unique_ptr<TempFile>(new TempFile(*this, std::move(file)));
  } catch (const Error& error) {
    rethrow_with_hint(error);
  }
}

void TempSpace::take(int64_t bytes) {
  const int64_t limit = limit_;
  const int64_t before = used_.fetch_add(bytes);
  if (limit <= 0 || before + bytes <= limit) return;
  used_ -= bytes;
  throw Error(SqlState::disk_full,
              fmt::format("temporary files would take {} bytes, and temp_limit allows {}", before + bytes, limit), -1,
              "Raise temp_limit or memory_limit.");
}

}  // namespace diptych
