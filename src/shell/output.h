// Where results go: standard output, or the file that .output names.
#pragma once

#include <fstream>
#include <memory>
#include <ostream>
#include <string>

namespace diptych::shell {

class Output {
 public:
  std::ostream& stream();
  // False, and everything as before, when the file can't be written to.
  bool redirect(const std::string& path);
  void to_standard_output();
  // The cells of a line when results appear on a terminal, else 0.
  size_t terminal_width() const;

 private:
  std::unique_ptr<std::ofstream> file_;
};

}  // namespace diptych::shell
