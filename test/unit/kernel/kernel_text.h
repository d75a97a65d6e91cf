// The kernel subset as one text, as the GPU engines hand it to a compiler at run time: the files that kernel.h
// includes, in that order, without the host's.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

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

inline std::string kernel_text() {
  const std::string source = DIPTYCH_SOURCE_DIR;
  std::istringstream includes(file_text(source + "/src/kernel/kernel.h"));
  const std::string prefix = "#include \"";
  std::string all;
  for (std::string line; std::getline(includes, line);) {
    if (line.compare(0, prefix.size(), prefix) != 0 || line.find("_host") != std::string::npos) continue;
    all += file_text(source + "/src/" + line.substr(prefix.size(), line.size() - prefix.size() - 1));
  }
  return all + file_text(source + "/test/unit/kernel/probe.h");
}

}  // namespace diptych::testing
