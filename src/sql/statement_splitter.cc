#include "sql/parser.h"

#include <algorithm>

namespace diptych {

namespace {

bool is_identifier_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Walks over SQL by its lexical rules (PostgreSQL manual, 4.1) as far as needed to tell a semicolon from text that
// holds one. Something unterminated reaches to the end: the parser then says what is wrong.
class Splitter {
 public:
  explicit Splitter(std::string_view script) : script_(script) {}

  // The offset of the first semicolon, or the end.
  size_t find_semicolon() {
    while (at_ < script_.size() && script_[at_] != ';') step();
    return at_;
  }

 private:
  void step() {
    const char c = script_[at_];
    if (c == '\'') {
      skip_quoted('\'', has_escape_prefix());
    } else if (c == '"') {
      skip_quoted('"', false);
    } else if (script_.substr(at_, 2) == "--") {
      skip_past("\n", at_ + 2);
    } else if (script_.substr(at_, 2) == "/*") {
      skip_comment();
    } else if (c == '$' && (at_ == 0 || !is_identifier_byte(script_[at_ - 1]))) {
      skip_dollar_quoted();
    } else {
      ++at_;
    }
  }

  // E'...': a backslash escapes the next character there.
  bool has_escape_prefix() const {
    if (at_ == 0 || (script_[at_ - 1] != 'e' && script_[at_ - 1] != 'E')) return false;
    return at_ == 1 || !is_identifier_byte(script_[at_ - 2]);
  }

  // A doubled quote ends one piece and starts the next, which comes to the same.
  void skip_quoted(char quote, bool backslash_escapes) {
    for (++at_; at_ < script_.size() && script_[at_] != quote; ++at_) {
      if (backslash_escapes && script_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, script_.size());
  }

  void skip_past(std::string_view end, size_t from) {
    const size_t found = script_.find(end, from);
    at_ = found == script_.npos ? script_.size() : found + end.size();
  }

  // Comments in /* */ nest.
  void skip_comment() {
    int depth = 0;
    do {
      if (script_.substr(at_, 2) == "/*") {
        ++depth;
        at_ += 2;
      } else if (script_.substr(at_, 2) == "*/") {
        --depth;
        at_ += 2;
      } else {
        ++at_;
      }
    } while (depth > 0 && at_ < script_.size());
    at_ = std::min(at_, script_.size());
  }

  // $$...$$ or $tag$...$tag$; a parameter such as $1 is neither.
  void skip_dollar_quoted() {
    size_t end = at_ + 1;
    while (end < script_.size() && is_identifier_byte(script_[end])) ++end;
    const bool starts_with_digit = at_ + 1 < script_.size() && script_[at_ + 1] >= '0' && script_[at_ + 1] <= '9';
    if (end == script_.size() || script_[end] != '$' || starts_with_digit) {
      ++at_;
      return;
    }
    skip_past(script_.substr(at_, end + 1 - at_), end + 1);
  }

  std::string_view script_;
  size_t at_ = 0;
};

}  // namespace

StatementText split_statement(std::string_view script) {
  const size_t end = Splitter(script).find_semicolon();
  return {script.substr(0, end), end == script.size() ? std::string_view() : script.substr(end + 1)};
}

}  // namespace diptych
