#include "shell/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <iostream>

namespace diptych::shell {

std::ostream& Output::stream() {
  if (file_) return *file_;
  return std::cout;
}

bool Output::redirect(const std::string& path) {
  auto file = std::make_unique<std::ofstream>(path, std::ios::binary);
  if (!file->is_open()) return false;
  file_ = std::move(file);
  return true;
}

void Output::to_standard_output() { file_.reset(); }

size_t Output::terminal_width() const {
  winsize size = {};
  if (file_ || ::isatty(STDOUT_FILENO) == 0 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace diptych::shell
