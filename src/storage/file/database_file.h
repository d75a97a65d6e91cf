// The database file as numbered pages, and the protocol by which one state replaces another:
//
//   1. tablets and meta data go to pages that nothing durable refers to      write_block(), write_blob()
//   2. sync                                                                  publish()
//   3. the header with the next sequence number goes to its slot; sync       publish(): from here on the new state
//   holds
//   4. second copy of the header                                             publish()
//
// When step 3 fails, the disk may hold either state. So no page is written before settle() has put the old header back.
//
// Thread safety: reading, verifying and write_block_if_settled() from many threads at once; the others by the one
// writer and its tasks, settle(), publish() and shrink() by one thread at a time.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "storage/file/extent_allocator.h"
#include "storage/file/file_header.h"

namespace diptych {

// A blob in the file; its pages are free when it ends.
struct StoredBlob {
  Extent extent;
  int64_t bytes = 0;
  uint64_t checksum = 0;
  BlobReference reference() const { return {extent.range().first, bytes, checksum}; }
};

class DatabaseFile {
 public:
  // Opens and locks the file; makes it when it is missing or empty. Errors: 55006, 58030, 53100, XX001.
  static std::unique_ptr<DatabaseFile> open(FileSystem& files, const std::string& path);
  // To be read alone, beside others who do. Errors: 55006, 58030, 58P01 when it is missing, XX001.
  static std::unique_ptr<DatabaseFile> open_to_read(FileSystem& files, const std::string& path);

  const std::string& path() const { return file_->path(); }
  // The header that holds.
  const FileHeader& header() const { return slots_[current_]; }

  // Takes pages that the opened state refers to. Errors: XX001 when they lie outside the file or are taken twice.
  Extent claim(PageRange range, const std::string& what);
  std::shared_ptr<const StoredBlob> claim_blob(const BlobReference& reference, const std::string& what);
  // Errors: XX001 naming `what` when the checksum is wrong.
  std::vector<std::byte> read_blob(const BlobReference& reference, const std::string& what) const;

  // Writes to free pages. block: whole pages.
  Extent write_block(std::span<const std::byte> block);
  // As write_block(), beside the writer. None: the headers are not settled, which is the writer's to do.
  std::optional<Extent> write_block_if_settled(std::span<const std::byte> block);
  std::shared_ptr<const StoredBlob> write_blob(std::span<const std::byte> bytes);
  void read_at(int64_t offset, std::span<std::byte> into) const { file_->read_at(offset, into); }
  void will_read(int64_t offset, int64_t bytes) const { file_->will_read(offset, bytes); }

  // Brings the headers on the disk to what they should be: after opening, and after a publish() that failed. To be
  // called before pages are written.
  void settle();
  bool settled() const { return settled_; }
  // Makes the state with this catalog durable and current. On an error the old state holds; settled() then says whether
  // the disk is known to hold it, too.
  void publish(const BlobReference& root);
  // Gives pages at the end that nobody uses back to the file system, where that is worth it.
  void shrink() noexcept;
  // Reads all copies of the headers again. Errors: XX001 when one is not as it should be.
  void verify_headers() const;

 private:
  explicit DatabaseFile(std::unique_ptr<File> file) : file_(std::move(file)) {}
  void read_start(int64_t bytes);
  static std::unique_ptr<DatabaseFile> create(FileSystem& files, const std::string& path);
  void read_headers();
  void write_header(size_t slot, size_t copy);
  Extent write_pages(std::span<const std::byte> bytes);

  std::unique_ptr<File> file_;
  std::shared_ptr<ExtentAllocator> allocator_ = std::make_shared<ExtentAllocator>(header_pages);
  mutable std::mutex header_mutex_;                  // for what goes on beside a writer
  std::array<FileHeader, 2> slots_;                  // what the slots hold or should hold
  std::array<std::array<bool, 2>, 2> known_good_{};  // [slot][copy]: the disk holds slots_[slot] there
  size_t current_ = 0;
  std::atomic<int64_t> file_pages_{0};  // length of the file, at most
  std::atomic<bool> settled_ = false;
};

}  // namespace diptych
