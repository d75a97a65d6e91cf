// Arrow's file interfaces on ours, and Arrow's errors as ours.
//
// An error of the file system passes through Arrow as a status, and comes out of check() as it was.
#pragma once

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>
#include <arrow/result.h>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file_system.h"

namespace diptych {

class ArrowInputFile : public arrow::io::RandomAccessFile {
 public:
  explicit ArrowInputFile(std::shared_ptr<File> file);

  const std::string& path() const { return path_; }
  const std::shared_ptr<File>& shared_file() const { return file_; }
  // The error of the file system that Arrow has been told of, if any.
  std::optional<Error> failure() const;

  arrow::Status Close() override;
  bool closed() const override { return file_ == nullptr; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> GetSize() override { return size_; }
  arrow::Result<int64_t> Read(int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t bytes) override;
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t bytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t bytes) override;

 private:
  std::string path_;
  std::shared_ptr<File> file_;
  int64_t size_;
  int64_t position_ = 0;
  mutable std::mutex mutex_;
  std::optional<Error> failure_;
};

class ArrowOutputFile : public arrow::io::OutputStream {
 public:
  // The file must outlive the stream.
  explicit ArrowOutputFile(File& file) : file_(&file) {}
  std::optional<Error> failure() const { return failure_; }

  arrow::Status Close() override;
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Write(const void* bytes, int64_t count) override;
  using arrow::io::OutputStream::Write;

 private:
  File* file_;
  int64_t position_ = 0;
  bool closed_ = false;
  std::optional<Error> failure_;
};

// Throws when the status is no success: the file's own error, otherwise 22P04 with the path and what Arrow says.
void check(const arrow::Status& status, const ArrowInputFile& file);
void check(const arrow::Status& status, const ArrowOutputFile& file, const std::string& path);

template <typename T>
T check(arrow::Result<T> result, const ArrowInputFile& file) {
  check(result.status(), file);
  return std::move(result).ValueUnsafe();
}

// Runs code of Parquet's lower layer, which throws, and turns what it throws into our errors.
void guard_parquet(const ArrowInputFile& file, const std::function<void()>& code);

}  // namespace diptych
