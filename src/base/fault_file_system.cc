#include "base/fault_file_system.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/error.h"

namespace diptych {
namespace {

constexpr int64_t sector_bytes = 512;

}  // namespace

struct MemoryFileSystem::Change {
  int64_t offset = 0;
  std::vector<std::byte> bytes;  // empty: a truncation to `offset`
  bool is_truncation = false;
};

struct MemoryFileSystem::Inode {
  std::vector<std::byte> synced;
  std::vector<std::byte> now;
  std::vector<Change> unsynced;
  std::set<const File*> locked_by;
  LockMode lock_mode = LockMode::Shared;  // of all of them
  int open_files = 0;

  static void write(std::vector<std::byte>& content, int64_t offset, std::span<const std::byte> bytes) {
    size_t end = static_cast<size_t>(offset) + bytes.size();
    if (content.size() < end) content.resize(end);
    std::copy(bytes.begin(), bytes.end(), content.begin() + offset);
  }

  // What a power cut leaves of it.
  std::vector<std::byte> survivor(std::mt19937_64& random) const;
};

std::vector<std::byte> MemoryFileSystem::Inode::survivor(std::mt19937_64& random) const {
  enum { DropAll, KeepAll, WholeWrites, Sectors, TornSectors, fates };
  uint64_t fate = random() % fates;
  std::vector<std::byte> content = synced;
  if (fate == DropAll) return content;
  if (fate == KeepAll) return now;
  for (const Change& change : unsynced) {
    if (change.is_truncation) {
      if (random() % 2) content.resize(static_cast<size_t>(change.offset));
      continue;
    }
    if (fate == WholeWrites) {
      if (random() % 2) write(content, change.offset, change.bytes);
      continue;
    }
    int64_t end = change.offset + static_cast<int64_t>(change.bytes.size());
    for (int64_t at = change.offset; at < end;) {
      int64_t next = std::min(end, (at / sector_bytes + 1) * sector_bytes);
      std::span<const std::byte> sector{change.bytes.data() + (at - change.offset), static_cast<size_t>(next - at)};
      uint64_t choice = random() % (fate == TornSectors ? 3 : 2);
      if (choice == 1) write(content, at, sector);
      if (choice == 2) write(content, at, sector.first(random() % sector.size()));
      at = next;
    }
  }
  return content;
}

// Reads and writes the inode it was opened on, which lives on when its name is gone.
class MemoryFile final : public File {
 public:
  MemoryFile(std::string path, MemoryFileSystem& files, std::shared_ptr<MemoryFileSystem::Inode> inode, bool writable)
      : File(std::move(path)), files_(files), inode_(std::move(inode)), writable_(writable) {
    ++inode_->open_files;
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() override {
    std::lock_guard guard(files_.mutex_);
    inode_->locked_by.erase(this);
    --inode_->open_files;
  }

  int64_t size() const override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("examine file", path());
    return static_cast<int64_t>(inode_->now.size());
  }

  void truncate(int64_t bytes) override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("truncate file", path());
    inode_->now.resize(static_cast<size_t>(bytes));
    inode_->unsynced.push_back({bytes, {}, true});
  }

  void sync() override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("sync file", path());
    inode_->synced = inode_->now;
    inode_->unsynced.clear();
  }

  void lock(LockMode mode) override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("lock file", path());
    const bool goes_together = mode == LockMode::Shared && inode_->lock_mode == LockMode::Shared;
    if (!inode_->locked_by.empty() && !inode_->locked_by.contains(this) && !goes_together)
      throw Error(SqlState::object_in_use, "database file \"" + path() + "\" is in use by another process");
    inode_->locked_by.insert(this);
    inode_->lock_mode = mode;
  }

  void will_read(int64_t, int64_t) const override {}

 protected:
  int64_t read_some(int64_t offset, std::span<std::byte> into) const override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("read file", path());
    int64_t left = static_cast<int64_t>(inode_->now.size()) - offset;
    if (left <= 0) return 0;
    size_t count = files_.transfer_size(std::min(into.size(), static_cast<size_t>(left)));
    std::memcpy(into.data(), inode_->now.data() + offset, count);
    return static_cast<int64_t>(count);
  }

  int64_t write_some(int64_t offset, std::span<const std::byte> bytes) override {
    std::lock_guard guard(files_.mutex_);
    files_.count_operation("write file", path());
    check_invariant(writable_, "only files opened for writing are written");
    int64_t growth_left = files_.plan_.capacity_bytes - files_.bytes_in_use();
    int64_t room = std::max<int64_t>(0, static_cast<int64_t>(inode_->now.size()) + growth_left - offset);
    size_t count = files_.transfer_size(std::min(bytes.size(), static_cast<size_t>(room)));
    if (count == 0) {
      throw Error(SqlState::disk_full, "could not write file \"" + path() + "\": No space left on device");
    }
    MemoryFileSystem::Inode::write(inode_->now, offset, bytes.first(count));
    inode_->unsynced.push_back({offset, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count)}, false});
    return static_cast<int64_t>(count);
  }

 private:
  MemoryFileSystem& files_;
  std::shared_ptr<MemoryFileSystem::Inode> inode_;
  bool writable_;
};

MemoryFileSystem::MemoryFileSystem(uint64_t seed) : random_(seed) { unsynced_directories_.push_back({}); }
MemoryFileSystem::~MemoryFileSystem() = default;

std::unique_ptr<File> MemoryFileSystem::open(const std::string& path, OpenMode mode) {
  std::lock_guard guard(mutex_);
  count_operation("open file", path);
  auto entry = now_.find(path);
  if (entry == now_.end()) {
    if (mode == OpenMode::Read || mode == OpenMode::ReadWrite) {
      throw Error(SqlState::undefined_file, "could not open file \"" + path + "\": No such file or directory");
    }
    entry = now_.emplace(path, std::make_shared<Inode>()).first;
    unsynced_directories_.push_back(now_);
  } else if (mode == OpenMode::CreateExclusive) {
    throw Error(SqlState::io_error, "could not open file \"" + path + "\": File exists");
  }
  return std::make_unique<MemoryFile>(path, *this, entry->second, mode != OpenMode::Read);
}

bool MemoryFileSystem::exists(const std::string& path) {
  std::lock_guard guard(mutex_);
  count_operation("examine file", path);
  return now_.count(path) != 0;
}

void MemoryFileSystem::remove(const std::string& path) {
  std::lock_guard guard(mutex_);
  count_operation("remove file", path);
  auto entry = now_.extract(path);
  if (entry.empty()) {
    throw Error(SqlState::undefined_file, "could not remove file \"" + path + "\": No such file or directory");
  }
  nameless_.push_back(entry.mapped());
  unsynced_directories_.push_back(now_);
}

void MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  std::lock_guard guard(mutex_);
  count_operation("rename file", from);
  auto entry = now_.extract(from);
  if (entry.empty()) {
    throw Error(SqlState::undefined_file, "could not rename file \"" + from + "\": No such file or directory");
  }
  now_[to] = entry.mapped();
  unsynced_directories_.push_back(now_);
}

void MemoryFileSystem::sync_directory(const std::string& path) {
  std::lock_guard guard(mutex_);
  count_operation("sync directory", directory_of(path));
  unsynced_directories_.assign(1, now_);
}

void MemoryFileSystem::set_faults(const FaultPlan& plan) {
  std::lock_guard guard(mutex_);
  plan_ = plan;
  operations_ = 0;
}

int64_t MemoryFileSystem::operations() const {
  std::lock_guard guard(mutex_);
  return operations_;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::after_crash(uint64_t seed) const {
  std::lock_guard guard(mutex_);
  std::mt19937_64 random(seed);
  auto result = std::make_unique<MemoryFileSystem>(seed);
  const Directory& survivors = unsynced_directories_[random() % unsynced_directories_.size()];
  for (const auto& [path, inode] : survivors) {
    auto copy = std::make_shared<Inode>();
    copy->synced = copy->now = inode->survivor(random);
    result->now_.emplace(path, std::move(copy));
  }
  result->unsynced_directories_.assign(1, result->now_);
  return result;
}

std::unique_ptr<MemoryFileSystem> MemoryFileSystem::copy() const {
  std::lock_guard guard(mutex_);
  auto result = std::make_unique<MemoryFileSystem>();
  for (const auto& [path, inode] : now_) {
    auto copy = std::make_shared<Inode>();
    copy->synced = copy->now = inode->now;
    result->now_.emplace(path, std::move(copy));
  }
  result->unsynced_directories_.assign(1, result->now_);
  return result;
}

std::vector<std::string> MemoryFileSystem::paths() const {
  std::lock_guard guard(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, inode] : now_) paths.push_back(path);
  return paths;
}

std::vector<std::byte> MemoryFileSystem::contents(const std::string& path) const {
  std::lock_guard guard(mutex_);
  auto entry = now_.find(path);
  check_invariant(entry != now_.end(), "contents() is asked of a file that exists");
  return entry->second->now;
}

void MemoryFileSystem::set_contents(const std::string& path, std::vector<std::byte> bytes) {
  std::lock_guard guard(mutex_);
  auto inode = std::make_shared<Inode>();
  inode->synced = inode->now = std::move(bytes);
  now_[path] = std::move(inode);
  unsynced_directories_.assign(1, now_);
}

void MemoryFileSystem::count_operation(const char* verb, const std::string& path) {
  int64_t number = operations_++;
  bool is_for_good = plan_.for_good || plan_.kind == FaultPlan::Kind::PowerCut;
  if (plan_.kind == FaultPlan::Kind::None || number < plan_.at || (number > plan_.at && !is_for_good)) return;
  bool is_full = plan_.kind == FaultPlan::Kind::DiskFull;
  throw Error(is_full ? SqlState::disk_full : SqlState::io_error,
              std::string("could not ") + verb + " \"" + path +
                  (is_full ? "\": No space left on device" : "\": Input/output error"));
}

size_t MemoryFileSystem::transfer_size(size_t asked) {
  if (!plan_.short_transfers || asked < 2 || random_() % 2) return asked;
  return 1 + random_() % asked;
}

int64_t MemoryFileSystem::bytes_in_use() {
  if (plan_.capacity_bytes == FaultPlan::unlimited) return 0;
  int64_t bytes = 0;
  for (const auto& [path, inode] : now_) bytes += static_cast<int64_t>(inode->now.size());
  for (const auto& entry : nameless_) {
    // Only open files count: the directories kept for a crash hold on to the inode, too.
    const auto inode = entry.lock();
    if (inode && inode->open_files > 0) bytes += static_cast<int64_t>(inode->now.size());
  }
  return bytes;
}

}  // namespace diptych
