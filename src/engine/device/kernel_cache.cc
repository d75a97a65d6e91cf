#include "engine/device/kernel_cache.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string_view>

#include "base/error.h"
#include "base/exit_hold.h"
#include "engine/device/stop_check.h"

namespace diptych {
namespace {

namespace fs = std::filesystem;

// What a file starts with; the binary follows.
struct FileHead {
  char magic[8];
  uint64_t version;
  uint64_t key_hash;  // of the whole key, by another seed than the name's
  uint64_t binary_bytes;
  uint64_t checksum;  // of the binary
};
constexpr char file_magic[8] = {'d', 'i', 'p', 'k', 'e', 'r', 'n', 'l'};
constexpr uint64_t file_version = 1;
constexpr uint64_t key_seed = 0x6b65726e656c;

FileHead head_of(const std::string& key, std::span<const std::byte> binary) {
  FileHead head{};
  std::memcpy(head.magic, file_magic, sizeof(file_magic));
  head.version = file_version;
  head.key_hash = XXH3_64bits_withSeed(key.data(), key.size(), key_seed);
  head.binary_bytes = binary.size();
  head.checksum = XXH3_64bits(binary.data(), binary.size());
  return head;
}

std::string hex(uint64_t value) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 15];
  return text;
}

constexpr std::string_view file_suffix = ".kernel";

std::string file_name(const std::string& key) {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return hex(hash.high64) + hex(hash.low64) + std::string(file_suffix);
}

// Also of a file that was never finished, which has more behind it. The directory may hold other files.
bool is_file_name(std::string_view name) {
  constexpr size_t digits = 32;
  return name.find_first_not_of("0123456789abcdef") == digits && name.substr(digits).starts_with(file_suffix);
}

// The binary of a file that is whole and for this key.
std::optional<std::vector<std::byte>> read_binary(const fs::path& path, const std::string& key) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  const auto bytes = static_cast<int64_t>(file.tellg());
  if (bytes < static_cast<int64_t>(sizeof(FileHead)) || bytes > KernelCache::disk_bytes) return std::nullopt;
  FileHead head{};
  std::vector<std::byte> binary(static_cast<size_t>(bytes) - sizeof(head));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(&head), sizeof(head));
  file.read(reinterpret_cast<char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
  if (!file) return std::nullopt;
  const FileHead expected = head_of(key, binary);
  if (std::memcmp(&head, &expected, sizeof(head)) != 0) return std::nullopt;
  return binary;
}

// Deletes the kernels that were used longest ago until those in the directory are within their bounds.
void bound_directory(const fs::path& directory) {
  struct File {
    fs::file_time_type time;
    int64_t bytes;
    fs::path path;
  };
  std::vector<File> files;
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (!is_file_name(entry.path().filename().string())) continue;
    std::error_code gone;
    const auto size = entry.file_size(gone);
    const auto time = entry.last_write_time(gone);
    if (gone) continue;
    files.push_back({time, static_cast<int64_t>(size), entry.path()});
    bytes += static_cast<int64_t>(size);
  }
  auto count = static_cast<int64_t>(files.size());
  if (bytes <= KernelCache::disk_bytes && count <= KernelCache::disk_files) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.time < b.time; });
  for (const File& file : files) {
    if (bytes <= KernelCache::disk_bytes && count <= KernelCache::disk_files) break;
    fs::remove(file.path, error);
    bytes -= file.bytes;
    count--;
  }
}

}  // namespace

KernelCache::KernelCache(KernelCompiler& compiler, std::optional<fs::path> directory)
    : compiler_(compiler), directory_(std::move(directory)) {}

std::optional<fs::path> KernelCache::default_directory() {
  if (const char* chosen = std::getenv("DIPTYCH_KERNEL_CACHE"); chosen != nullptr && *chosen != '\0') {
    if (std::strcmp(chosen, "off") == 0) return std::nullopt;
    return fs::path(chosen);
  }
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0')
    return fs::path(cache) / "diptych" / "kernels";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0')
    return fs::path(home) / ".cache" / "diptych" / "kernels";
  return std::nullopt;
}

std::shared_ptr<KernelCache> KernelCache::of(const DeviceInfo& info, std::unique_ptr<KernelCompiler> compiler) {
  struct Owned {
    std::unique_ptr<KernelCompiler> compiler;
    KernelCache cache;
  };
  struct All {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<Owned>> open;
  };
  static All& all = *new All;  // databases may be opened and closed while the process ends
  const std::optional<fs::path> directory = default_directory();
  const std::string key = info.id() + '|' + compiler->identity() + '|' + directory.value_or(fs::path()).string();
  const std::lock_guard lock(all.mutex);
  std::weak_ptr<Owned>& place = all.open[key];
  std::shared_ptr<Owned> owned = place.lock();
  if (owned == nullptr) {
    KernelCompiler& used = *compiler;
    place = owned = std::shared_ptr<Owned>(new Owned{std::move(compiler), KernelCache(used, directory)});
  }
  return {owned, &owned->cache};
}

std::string KernelCache::key_of(const KernelText& kernel) const {
  std::string key = compiler_.identity();
  key += '\0';
  key += kernel.entry();
  key += '\0';
  return key += kernel.text();
}

std::shared_ptr<KernelCache::Slot> KernelCache::slot_of(const KernelText& kernel) {
  std::lock_guard lock(mutex_);
  auto [held, is_new] = slots_.try_emplace(kernel.hash());
  if (!is_new) {
    ages_.splice(ages_.begin(), ages_, held->second.age);
    return held->second.slot;
  }
  ages_.push_front(kernel.hash());
  held->second = {std::make_shared<Slot>(), ages_.begin()};
  auto slot = held->second.slot;
  if (slots_.size() > kernels_in_memory) {
    slots_.erase(ages_.back());
    ages_.pop_back();
  }
  return slot;
}

std::shared_ptr<const Kernel> KernelCache::compile(const KernelText& kernel, CompileReport* report) {
  const auto start = std::chrono::steady_clock::now();
  const auto slot = slot_of(kernel);
  bool has_begun = false;
  std::unique_lock lock(slot->mutex);
  while (slot->kernel == nullptr) {
    if (slot->is_being_made) {
      wait(*slot, lock);
      continue;
    }
    if (has_begun) std::rethrow_exception(slot->failure);
    has_begun = slot->is_being_made = true;
    lock.unlock();
    if (StopCheck::here() == nullptr || !make_apart(slot, kernel)) make(*slot, kernel);
    lock.lock();
  }
  CompileReport done;
  done.from_memory = !slot->prepared;
  if (slot->prepared) done = *std::exchange(slot->prepared, std::nullopt);
  done.nanoseconds = nanoseconds_since(start);
  if (report != nullptr) *report = done;
  return slot->kernel;
}

void KernelCache::wait(Slot& slot, std::unique_lock<std::mutex>& lock) {
  // Somebody who cancels a statement does not notice so short a time.
  constexpr std::chrono::milliseconds check_interval(5);
  const StopCheck* stop = StopCheck::here();
  if (stop == nullptr) return slot.changed.wait(lock);
  if (slot.changed.wait_for(lock, check_interval) == std::cv_status::no_timeout) return;
  lock.unlock();
  stop->ask();
  lock.lock();
}

void KernelCache::prepare(const KernelText& kernel) {
  const auto slot = slot_of(kernel);
  {
    const std::lock_guard lock(slot->mutex);
    if (slot->kernel != nullptr || std::exchange(slot->is_being_made, true)) return;
  }
  make(*slot, kernel);
  const std::lock_guard lock(slot->mutex);
  if (slot->failure) std::rethrow_exception(slot->failure);
}

bool KernelCache::make_apart(const std::shared_ptr<Slot>& slot, const KernelText& kernel) {
  const std::lock_guard lock(mutex_);
  makers_.remove_if([](const Maker& maker) { return maker.is_done.load(); });
  const size_t before = makers_.size();
  try {
    Maker& maker = makers_.emplace_back();
    maker.thread = std::jthread([this, slot, kernel, &maker] {
      make(*slot, kernel);
      maker.is_done = true;
    });
    return true;
  } catch (const std::exception&) {
    makers_.resize(before);
    return false;
  }
}

void KernelCache::make(Slot& slot, const KernelText& kernel) {
  std::shared_ptr<const Kernel> made;
  CompileReport report;
  std::exception_ptr failure;
  const ExitHold hold;
  try {
    if (!hold.is_held()) throw Error(SqlState::system_error, "the process ends: no kernel is compiled any more");
    made = find_or_build(kernel, report);
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(slot.mutex);
  slot.is_being_made = false;
  slot.kernel = std::move(made);
  slot.failure = failure;
  if (slot.kernel != nullptr) slot.prepared = report;
  slot.changed.notify_all();
}

std::shared_ptr<const Kernel> KernelCache::find_or_build(const KernelText& kernel, CompileReport& report) {
  if (auto ahead = compiler_.find_ahead(kernel.text(), kernel.entry())) {
    report.is_ahead = true;
    return ahead;
  }
  const std::string key = key_of(kernel);
  if (auto loaded = load_from_disk(key, kernel.entry())) {
    report.from_disk = true;
    return loaded;
  }
  KernelCompiler::Built built = compiler_.build(kernel.text(), kernel.entry());
  store_on_disk(key, built.binary);
  return std::move(built.kernel);
}

std::shared_ptr<const Kernel> KernelCache::find(const KernelText& kernel) {
  const auto slot = slot_of(kernel);
  const std::lock_guard lock(slot->mutex);
  if (slot->is_being_made) return nullptr;
  if (slot->kernel == nullptr) slot->kernel = compiler_.find_ahead(kernel.text(), kernel.entry());
  if (slot->kernel == nullptr) slot->kernel = load_from_disk(key_of(kernel), kernel.entry());
  return slot->kernel;
}

std::shared_ptr<const Kernel> KernelCache::load_from_disk(const std::string& key, const std::string& entry) {
  if (!directory_) return nullptr;
  const fs::path path = *directory_ / file_name(key);
  auto binary = read_binary(path, key);
  if (!binary) return nullptr;
  std::error_code error;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);
  return compiler_.load(*binary, entry);
}

void KernelCache::store_on_disk(const std::string& key, std::span<const std::byte> binary) {
  if (!directory_ || binary.empty()) return;
  std::error_code error;
  fs::create_directories(*directory_, error);
  const fs::path path = *directory_ / file_name(key);
  fs::path unfinished = path;
  unfinished += "." + std::to_string(getpid()) + "." + hex(std::random_device{}());
  {
    std::ofstream file(unfinished, std::ios::binary);
    const FileHead head = head_of(key, binary);
    file.write(reinterpret_cast<const char*>(&head), sizeof(head));
    file.write(reinterpret_cast<const char*>(binary.data()), static_cast<std::streamsize>(binary.size()));
    file.close();
    if (!file) {
      fs::remove(unfinished, error);
      return;
    }
  }
  fs::rename(unfinished, path, error);
  if (error) fs::remove(unfinished, error);
  bound_directory(*directory_);
}

}  // namespace diptych
