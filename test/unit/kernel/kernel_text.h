// The kernel subset as one text, as the GPU engines hand it to a compiler at run time, and the probe after it.
#pragma once

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kernel/kernel_library.h"

namespace diptych::testing {

inline std::string file_text(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  std::string line;
  while (std::getline(file, line)) {
    if (line != "#pragma once") text << line << "\n";
  }
  return text.str();
}

inline std::string text_with_probe() {
  std::vector<std::string_view> files;
  for (std::string_view name : kernel_file_names()) {
    if (!name.starts_with("device/")) files.push_back(name);
  }
  return kernel_text(files) + file_text(std::string(DIPTYCH_SOURCE_DIR) + "/test/unit/kernel/probe.h");
}

}  // namespace diptych::testing
