// Numbers strings in the order in which they first appear: an open-addressing hash table that keeps copies of the
// strings.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

namespace diptych {

class StringNumbering {
 public:
  static constexpr uint32_t none = UINT32_MAX;

  uint32_t size() const { return static_cast<uint32_t>(strings_.size()); }
  std::string_view operator[](uint32_t number) const { return strings_[number]; }
  // The number of the string, new or not.
  uint32_t number(std::string_view text);
  void clear();
  int64_t bytes() const { return bytes_ + static_cast<int64_t>(slots_.size() * sizeof(Slot)); }

 private:
  struct Slot {
    uint32_t tag = 0;  // upper bits of the hash
    uint32_t number = none;
  };

  void grow();
  std::string_view keep(std::string_view text);

  std::vector<Slot> slots_;  // a power of two
  std::vector<std::string_view> strings_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_left_ = 0;
  char* block_next_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace diptych
