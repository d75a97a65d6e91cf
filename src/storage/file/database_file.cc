#include "storage/file/database_file.h"

#include <algorithm>

#include "base/error.h"

namespace diptych {
namespace {

int64_t header_offset(size_t slot, size_t copy) { return static_cast<int64_t>(slot * 2 + copy) * page_bytes; }

[[noreturn]] void fail_corrupted(const std::string& path, const std::string& problem) {
  throw Error(SqlState::data_corrupted, "database file \"" + path + "\": " + problem);
}

// Cutting less than this off the file is not worth a system call and a new allocation soon after.
constexpr int64_t least_shrink_pages = 256;

}  // namespace

std::unique_ptr<DatabaseFile> DatabaseFile::open(FileSystem& files, const std::string& path) {
  if (!files.exists(path)) return create(files, path);
  std::unique_ptr<DatabaseFile> result(new DatabaseFile(files.open(path, OpenMode::ReadWrite)));
  result->file_->lock(LockMode::Exclusive);
  int64_t bytes = result->file_->size();
  if (bytes == 0) return create(files, path);
  // Whoever made the file may have ended before its name was on the disk.
  files.sync_directory(path);
  result->read_start(bytes);
  return result;
}

std::unique_ptr<DatabaseFile> DatabaseFile::open_to_read(FileSystem& files, const std::string& path) {
  std::unique_ptr<DatabaseFile> result(new DatabaseFile(files.open(path, OpenMode::Read)));
  result->file_->lock(LockMode::Shared);
  result->read_start(result->file_->size());
  return result;
}

void DatabaseFile::read_start(int64_t bytes) {
  if (bytes < header_pages * page_bytes) fail_corrupted(path(), "it is too short to be a database");
  read_headers();
  file_pages_ = bytes / page_bytes;
  if (file_pages_ >= header().file_pages) return;
  fail_corrupted(path(),
                 "it ends after " + std::to_string(file_pages_) + " pages of " + std::to_string(header().file_pages));
}

// The file is made under another name and renamed when it is whole, so that a crash leaves no half-made database.
std::unique_ptr<DatabaseFile> DatabaseFile::create(FileSystem& files, const std::string& path) {
  std::string scratch = path + ".new";
  std::unique_ptr<DatabaseFile> result(new DatabaseFile(files.open(scratch, OpenMode::Create)));
  result->file_->lock(LockMode::Exclusive);
  result->file_->truncate(0);
  for (size_t slot : {0, 1}) {
    result->slots_[slot] = {.sequence = slot, .root = {}, .file_pages = header_pages};
    for (size_t copy : {0, 1}) result->write_header(slot, copy);
  }
  result->current_ = 1;
  result->file_pages_ = header_pages;
  result->file_->sync();
  files.rename(scratch, path);
  files.sync_directory(path);
  result->settled_ = true;
  return result;
}

void DatabaseFile::read_headers() {
  for (size_t slot : {0, 1}) {
    std::array<std::optional<FileHeader>, 2> copies;
    for (size_t copy : {0, 1}) {
      HeaderPage page;
      file_->read_at(header_offset(slot, copy), page);
      copies[copy] = decode_header(page);
      if (copies[copy] && copies[copy]->sequence % 2 != slot) copies[copy].reset();
    }
    if (!copies[0] && !copies[1]) {
      fail_corrupted(path(), "both copies of header " + std::to_string(slot) + " are damaged, or it is no database");
    }
    bool second_is_newer = !copies[0] || (copies[1] && copies[1]->sequence > copies[0]->sequence);
    slots_[slot] = second_is_newer ? *copies[1] : *copies[0];
    for (size_t copy : {0, 1}) {
      known_good_[slot][copy] = copies[copy] && copies[copy]->sequence == slots_[slot].sequence;
    }
  }
  current_ = slots_[0].sequence > slots_[1].sequence ? 0 : 1;
}

void DatabaseFile::write_header(size_t slot, size_t copy) {
  known_good_[slot][copy] = false;
  file_->write_at(header_offset(slot, copy), encode_header(slots_[slot]));
  known_good_[slot][copy] = true;
}

void DatabaseFile::settle() {
  std::lock_guard guard(header_mutex_);
  if (settled_) return;
  // One copy of a slot at a time, so that the other one survives a crash. The sync is needed also when nothing is
  // written: a process that was killed may have left a header that is not on the disk yet.
  for (size_t copy : {0, 1}) {
    for (size_t slot : {0, 1}) {
      if (!known_good_[slot][copy]) write_header(slot, copy);
    }
    file_->sync();
  }
  settled_ = true;
}

void DatabaseFile::publish(const BlobReference& root) {
  check_invariant(settled_, "a state is published over headers that are settled");
  file_->sync();
  std::lock_guard guard(header_mutex_);
  size_t slot = 1 - current_;
  FileHeader old = slots_[slot];
  slots_[slot] = {.sequence = header().sequence + 1, .root = root, .file_pages = allocator_->end()};
  try {
    write_header(slot, 0);
    file_->sync();
  } catch (const Error&) {
    slots_[slot] = old;
    known_good_[slot][0] = false;
    settled_ = false;
    throw;
  }
  current_ = slot;
  known_good_[slot][1] = false;
  try {
    write_header(slot, 1);
  } catch (const Error&) {
    settled_ = false;  // the state is durable all the same; the next writer repairs the copy
  }
}

void DatabaseFile::shrink() noexcept {
  const std::lock_guard guard(header_mutex_);
  int64_t needed = std::max(header().file_pages, allocator_->end());
  if (file_pages_ - needed < std::max(least_shrink_pages, needed / 8)) return;
  try {
    file_->truncate(needed * page_bytes);
    file_pages_ = needed;
  } catch (const Error&) {
    // The file stays longer than it need be, which is harmless.
  }
}

Extent DatabaseFile::claim(PageRange range, const std::string& what) {
  bool inside = range.first >= 0 && range.count >= 0 && range.count <= header().file_pages &&
                range.first <= header().file_pages - range.count;
  if (!inside || !allocator_->claim(range)) {
    fail_corrupted(path(), what + ": its " + std::to_string(range.count) + " pages from page " +
                               std::to_string(range.first) + " on lie outside the file or are in use twice");
  }
  return {allocator_, range};
}

std::shared_ptr<const StoredBlob> DatabaseFile::claim_blob(const BlobReference& reference, const std::string& what) {
  if (reference.bytes < 0 || reference.bytes > header().file_pages * page_bytes) {
    fail_corrupted(path(), what + ": impossible size");
  }
  return std::make_shared<StoredBlob>(
      StoredBlob{claim({reference.first_page, reference.pages()}, what), reference.bytes, reference.checksum});
}

std::vector<std::byte> DatabaseFile::read_blob(const BlobReference& reference, const std::string& what) const {
  std::vector<std::byte> bytes(static_cast<size_t>(reference.bytes));
  file_->read_at(reference.first_page * page_bytes, bytes);
  if (checksum_of(bytes) != reference.checksum) {
    fail_corrupted(path(), what + ": wrong checksum in pages " + std::to_string(reference.first_page) + " to " +
                               std::to_string(reference.first_page + reference.pages() - 1));
  }
  return bytes;
}

Extent DatabaseFile::write_pages(std::span<const std::byte> bytes) {
  int64_t pages = (static_cast<int64_t>(bytes.size()) + page_bytes - 1) / page_bytes;
  Extent extent(allocator_, allocator_->allocate(pages));
  int64_t known = file_pages_.load();
  while (known < extent.range().end() && !file_pages_.compare_exchange_weak(known, extent.range().end())) {
  }
  file_->write_at(extent.range().first * page_bytes, bytes);
  return extent;
}

Extent DatabaseFile::write_block(std::span<const std::byte> block) {
  check_invariant(block.size() % page_bytes == 0, "a block is whole pages");
  return write_pages(block);
}

std::optional<Extent> DatabaseFile::write_block_if_settled(std::span<const std::byte> block) {
  // Under the lock until it is written: a header says how long the file is at least, and where its end is cut off.
  const std::lock_guard guard(header_mutex_);
  if (!settled_) return {};
  return write_block(block);
}

std::shared_ptr<const StoredBlob> DatabaseFile::write_blob(std::span<const std::byte> bytes) {
  // Whole pages, so that the file is as long as its header says.
  std::vector<std::byte> padded(bytes.begin(), bytes.end());
  padded.resize((bytes.size() + page_bytes - 1) / page_bytes * page_bytes);
  return std::make_shared<StoredBlob>(
      StoredBlob{write_pages(padded), static_cast<int64_t>(bytes.size()), checksum_of(bytes)});
}

void DatabaseFile::verify_headers() const {
  std::lock_guard guard(header_mutex_);
  for (size_t slot : {0, 1}) {
    for (size_t copy : {0, 1}) {
      HeaderPage page;
      file_->read_at(header_offset(slot, copy), page);
      auto header = decode_header(page);
      if (!known_good_[slot][copy]) continue;
      if (!header || header->sequence != slots_[slot].sequence) {
        fail_corrupted(path(), "copy " + std::to_string(copy) + " of header " + std::to_string(slot) + " is damaged");
      }
    }
  }
}

}  // namespace diptych
