// Rows as the reference generator writes them: a '|' behind each field, also the last, and a line feed.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace ssb {

class RowText {
 public:
  explicit RowText(std::string& text) : text_(text) {}

  RowText& field(std::string_view value) {
    text_ += value;
    text_ += '|';
    return *this;
  }

  RowText& field(std::integral auto value) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    return field(std::string_view(digits, end));
  }

  void end_row() { text_ += '\n'; }

 private:
  std::string& text_;
};

}  // namespace ssb
