// Files in memory that can fail as real ones do, reproducibly from a seed: for tests of everything durable.
//
//   operation:  open  write  write  sync  write  rename  ...         every call of the interfaces is one, counted from
//   0
//                              ^ fault at 2: EIO, ENOSPC or a power cut, once or from then on
//
//   after_crash(seed): files as a power cut leaves them. What was synced is there; of what was not,
//     written:   [sector 0][sector 1][sector 2]     each sector of 512 bytes old, new or torn; whole writes dropped;
//     later ones survives:  [  new   ][  old   ][new|old ]     kept while earlier ones are lost
//   and directory entries (created, renamed, removed) that were not synced are kept or dropped.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "base/file_system.h"

namespace diptych {

struct FaultPlan {
  enum class Kind { None, IoError, DiskFull, PowerCut };
  Kind kind = Kind::None;
  int64_t at = std::numeric_limits<int64_t>::max();  // the number of the operation that fails
  bool for_good = false;               // all operations after it fail as well; a power cut always is for good
  bool short_transfers = false;        // reads and writes move a random part of what was asked
  int64_t capacity_bytes = unlimited;  // of all files together
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 2;
};

class MemoryFileSystem final : public FileSystem {
 public:
  explicit MemoryFileSystem(uint64_t seed = 1);
  ~MemoryFileSystem() override;

  std::unique_ptr<File> open(const std::string& path, OpenMode mode) override;
  bool exists(const std::string& path) override;
  void remove(const std::string& path) override;
  void rename(const std::string& from, const std::string& to) override;
  void sync_directory(const std::string& path) override;

  // Starts counting operations at 0 with these faults ahead.
  void set_faults(const FaultPlan& plan);
  // Operations since set_faults() or the beginning.
  int64_t operations() const;
  // The files that a power cut at this moment leaves, as a new file system without faults; nothing is locked in it.
  std::unique_ptr<MemoryFileSystem> after_crash(uint64_t seed) const;
  // All files as they are, synced: what an orderly end leaves.
  std::unique_ptr<MemoryFileSystem> copy() const;

  // The names of all files.
  std::vector<std::string> paths() const;
  // The bytes of a file, to look at and to damage.
  std::vector<std::byte> contents(const std::string& path) const;
  void set_contents(const std::string& path, std::vector<std::byte> bytes);

 private:
  friend class MemoryFile;
  struct Change;  // an unsynced write or truncation
  struct Inode;
  using Directory = std::map<std::string, std::shared_ptr<Inode>>;

  // Counts one operation and lets it fail when its turn has come.
  void count_operation(const char* verb, const std::string& path);
  size_t transfer_size(size_t asked);
  int64_t bytes_in_use();

  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  FaultPlan plan_;
  int64_t operations_ = 0;
  Directory now_;
  std::vector<Directory> unsynced_directories_;  // the states since the last sync, the synced one first
  std::vector<std::weak_ptr<Inode>> nameless_;   // removed while it may have been open
};

}  // namespace diptych
