#include "io/arrow_file.h"

#include <parquet/exception.h>

#include <algorithm>
#include <new>

namespace diptych {

ArrowInputFile::ArrowInputFile(std::shared_ptr<File> file)
    : path_(file->path()), file_(std::move(file)), size_(file_->size()) {}

std::optional<Error> ArrowInputFile::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

arrow::Status ArrowInputFile::Close() {
  file_.reset();
  return arrow::Status::OK();
}

arrow::Status ArrowInputFile::Seek(int64_t position) {
  position_ = position;
  return arrow::Status::OK();
}

arrow::Result<int64_t> ArrowInputFile::Read(int64_t bytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(position_, bytes, out));
  position_ += got;
  return got;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInputFile::Read(int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, bytes));
  position_ += buffer->size();
  return buffer;
}

arrow::Result<int64_t> ArrowInputFile::ReadAt(int64_t position, int64_t bytes, void* out) {
  if (position < 0 || bytes < 0) return arrow::Status::Invalid("negative offset or size");
  int64_t count = std::clamp<int64_t>(size_ - position, 0, bytes);
  try {
    file_->read_at(position, {static_cast<std::byte*>(out), static_cast<size_t>(count)});
  } catch (const Error& error) {  // Arrow's interface knows no exceptions; check() throws it again
    std::lock_guard lock(mutex_);
    failure_ = error;
    return arrow::Status::IOError(error.message());
  }
  return count;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> ArrowInputFile::ReadAt(int64_t position, int64_t bytes) {
  int64_t count = std::clamp<int64_t>(size_ - std::max<int64_t>(position, 0), 0, std::max<int64_t>(bytes, 0));
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(count));
  ARROW_ASSIGN_OR_RAISE(int64_t got, ReadAt(position, count, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(got));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Status ArrowOutputFile::Close() {
  closed_ = true;
  return arrow::Status::OK();
}

arrow::Status ArrowOutputFile::Write(const void* bytes, int64_t count) {
  try {
    file_->write_at(position_, {static_cast<const std::byte*>(bytes), static_cast<size_t>(count)});
  } catch (const Error& error) {  // Arrow's interface knows no exceptions; check() throws it again
    failure_ = error;
    return arrow::Status::IOError(error.message());
  }
  position_ += count;
  return arrow::Status::OK();
}

void check(const arrow::Status& status, const ArrowInputFile& file) {
  if (status.ok()) return;
  if (std::optional<Error> failure = file.failure()) throw *failure;
  if (status.IsOutOfMemory()) throw Error(SqlState::out_of_memory, "no memory to read '" + file.path() + "'");
  throw Error(SqlState::bad_copy_file_format, "file '" + file.path() + "': " + status.message());
}

void check(const arrow::Status& status, const ArrowOutputFile& file, const std::string& path) {
  if (status.ok()) return;
  if (file.failure()) throw *file.failure();
  throw Error(SqlState::io_error, "file '" + path + "': " + status.message());
}

void guard_parquet(const ArrowInputFile& file, const std::function<void()>& code) {
  try {
    code();
  } catch (const parquet::ParquetStatusException& exception) {
    check(exception.status(), file);
  } catch (const parquet::ParquetException& exception) {
    check(arrow::Status::Invalid(exception.what()), file);
  } catch (const std::length_error& exception) {  // sizes in a damaged file
    check(arrow::Status::Invalid(exception.what()), file);
  } catch (const std::bad_alloc&) {
    check(arrow::Status::OutOfMemory(""), file);
  }
}

}  // namespace diptych
