// Writes the text of a kernel: lines, indented by the blocks they stand in.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

namespace diptych::gpu {

class KernelWriter {
 public:
  explicit KernelWriter(size_t depth = 0) : depth_(depth) {}

  template <typename... Arguments>
  void line(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    text_.append(2 * depth_, ' ');
    fmt::format_to(std::back_inserter(text_), text, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  // A line that ends in an opening brace; close() ends its block.
  template <typename... Arguments>
  void open(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    line(text, std::forward<Arguments>(arguments)...);
    ++depth_;
  }
  void close() {
    --depth_;
    line("{}", "}");
  }
  void close_to(size_t depth) {
    while (depth_ > depth) close();
  }
  size_t depth() const { return depth_; }
  void append(const std::string& text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  size_t depth_;
};

}  // namespace diptych::gpu
