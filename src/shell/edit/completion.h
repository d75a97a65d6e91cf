// What could follow what has been typed, for the line editor's Tab.
#pragma once

#include <diptych/diptych.h>

#include <string>
#include <string_view>
#include <vector>

namespace diptych::shell {

class Completion {
 public:
  // `connection` must outlive it and be idle whenever candidates() is called.
  explicit Completion(diptych_connection* connection) : connection_(connection) {}

  // All words the last, unfinished word of `line` could become, sorted: dot commands and .mode's modes on a line that
  // starts with a dot, tables after FROM and the like, columns after "table.", else key words, tables and columns.
  // Key words come in the case the word was begun in.
  std::vector<std::string> candidates(std::string_view line);

  // Forgets the tables it has seen: a statement ran that may have changed them.
  void forget() { known_ = false; }

 private:
  void learn();

  diptych_connection* connection_;
  bool known_ = false;
  std::vector<std::string> tables_;
  std::vector<std::vector<std::string>> columns_;  // of each table
};

// The last, unfinished word of `line`: what candidates() completes. A dot command's name begins with its dot.
std::string_view last_word(std::string_view line);

// The longest beginning that all of `words` share.
std::string common_prefix(const std::vector<std::string>& words);

}  // namespace diptych::shell
