// The strings of one column of one table that are kept once: code -> string, append-only, shared by all tablets of the
// table, so that equal codes mean equal strings across tablets. Codes are given in the order of first appearance: they
// do not sort as the strings do, and with several writers their order depends on timing.
//
//   code    0      1      2
//   string  "AIR"  "RAIL" "SHIP"
//
// Thread safety: any number of threads may append and look up at once. Reading an entry takes no lock: entries never
// move and an entry below size() never changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace diptych {

class Dictionary {
 public:
  // A column whose strings outnumber this is written to the tablets' heaps from then on. Codes of at most 2 bytes: past
  // that the dictionary no longer fits the cache and saves little.
  static constexpr uint32_t max_entries = 65536;
  // Longer strings are no short domain.
  static constexpr uint32_t max_string_bytes = 256;

  Dictionary();

  // Differs from the id of every other dictionary of the process, dead or alive.
  uint64_t id() const { return id_; }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }
  // code: below max_entries. A code that is not given yet means "", so that a null slot's code 0 may always be looked
  // up.
  std::string_view operator[](uint32_t code) const { return entries_[code]; }
  // Address of the entries, for kernels; max_entries of them may be read.
  const std::string_view* entries() const { return entries_.get(); }
  // The code of the string, or nothing when it is not there. Takes the lock.
  std::optional<uint32_t> find(std::string_view text) const;
  // The code of the string, appended when new; nothing when it would exceed the limits above. Takes the lock: builders
  // keep the codes they have seen.
  std::optional<uint32_t> find_or_append(std::string_view text);

 private:
  struct Unmap {
    void operator()(std::string_view* entries) const;
  };

  const uint64_t id_;
  std::unique_ptr<std::string_view[], Unmap>
      entries_;  // max_entries, of which the operating system backs the touched pages
  std::atomic<uint32_t> size_{0};
  mutable std::mutex mutex_;  // guards what follows, and writing entries_ and size_
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, uint32_t> codes_;
};

}  // namespace diptych
