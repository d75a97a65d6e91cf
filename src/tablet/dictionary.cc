#include "tablet/dictionary.h"

#include <new>

namespace diptych {
namespace {

uint64_t next_id() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

Dictionary::Dictionary()
    : id_(next_id()), entries_(static_cast<std::string_view*>(std::calloc(max_entries, sizeof(std::string_view)))) {
  if (!entries_) throw std::bad_alloc();
}

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
