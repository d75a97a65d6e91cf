#include "tablet/dictionary.h"

#include <sys/mman.h>

#include <new>

namespace diptych {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

constexpr size_t entries_bytes = Dictionary::max_entries * sizeof(std::string_view);

// calloc() would write zeros into what has been freed before.
std::string_view* map_entries() {
  void* memory = ::mmap(nullptr, entries_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::string_view*>(memory);
}

}  // namespace

Dictionary::Dictionary() : id_(next_id()), entries_(map_entries()) {}

void Dictionary::Unmap::operator()(std::string_view* entries) const { ::munmap(entries, entries_bytes); }

std::optional<uint32_t> Dictionary::find(std::string_view text) const {
  std::lock_guard lock(mutex_);
  auto found = codes_.find(text);
  if (found == codes_.end()) return std::nullopt;
  return found->second;
}

std::optional<uint32_t> Dictionary::find_or_append(std::string_view text) {
  if (text.size() > max_string_bytes) return std::nullopt;
  std::lock_guard lock(mutex_);
  auto found = codes_.find(text);
  if (found != codes_.end()) return found->second;
  uint32_t code = size_.load(std::memory_order_relaxed);
  if (code == max_entries) return std::nullopt;
  std::string_view kept = strings_.emplace_back(text);
  entries_[code] = kept;
  codes_.emplace(kept, code);
  size_.store(code + 1, std::memory_order_release);
  return code;
}

}  // namespace diptych
