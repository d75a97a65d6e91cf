// A file system in memory that counts the bytes that are read of its files.
#pragma once

#include <algorithm>
#include <atomic>

#include "base/fault_file_system.h"

namespace diptych::testing {

class CountedFile final : public File {
 public:
  CountedFile(std::unique_ptr<File> file, std::atomic<int64_t>& bytes_read)
      : File(file->path()), file_(std::move(file)), bytes_read_(bytes_read) {}
  int64_t size() const override { return file_->size(); }
  void truncate(int64_t bytes) override { file_->truncate(bytes); }
  void sync() override { file_->sync(); }
  void lock(LockMode mode) override { file_->lock(mode); }
  void will_read(int64_t, int64_t) const override {}

 protected:
  int64_t read_some(int64_t offset, std::span<std::byte> into) const override {
    const int64_t bytes = std::clamp<int64_t>(size() - offset, 0, static_cast<int64_t>(into.size()));
    file_->read_at(offset, into.first(static_cast<size_t>(bytes)));
    bytes_read_ += bytes;
    return bytes;
  }
  int64_t write_some(int64_t offset, std::span<const std::byte> bytes) override {
    file_->write_at(offset, bytes);
    return static_cast<int64_t>(bytes.size());
  }

 private:
  std::unique_ptr<File> file_;
  std::atomic<int64_t>& bytes_read_;
};

class CountedFiles final : public FileSystem {
 public:
  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override {
    return std::make_unique<CountedFile>(files_.open(path, mode), bytes_read_);
  }
  bool exists(const std::string& path) override { return files_.exists(path); }
  void remove(const std::string& path) override { files_.remove(path); }
  void rename(const std::string& from, const std::string& to) override { files_.rename(from, to); }
  void sync_directory(const std::string& path) override { files_.sync_directory(path); }

  MemoryFileSystem& memory() { return files_; }
  int64_t take_bytes_read() { return bytes_read_.exchange(0); }

 private:
  MemoryFileSystem files_;
  std::atomic<int64_t> bytes_read_{0};
};

}  // namespace diptych::testing
