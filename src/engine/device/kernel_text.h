// What a compiler of kernels gets.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace diptych {

// The text of a kernel and its name there, with a hash of both: texts have some ten thousand bytes, and whoever
// launches a kernel asks for it by its text.
class KernelText {
 public:
  using Hash = std::pair<uint64_t, uint64_t>;
  KernelText() = default;
  KernelText(std::string text, std::string entry);
  const std::string& text() const { return text_; }
  const std::string& entry() const { return entry_; }
  const Hash& hash() const { return hash_; }

 private:
  std::string text_, entry_;
  Hash hash_;
};

}  // namespace diptych
