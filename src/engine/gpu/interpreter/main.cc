// For the build: prints a text of the interpreter, of which nvcc makes what libdiptych_cub.so holds.
//
//   interpreter_text operators|functions
#include <cstdio>
#include <string_view>

#include "engine/gpu/interpreter/interpreter_text.h"

int main(int count, char** arguments) {
  const std::string_view which = count == 2 ? arguments[1] : "";
  if (which != "operators" && which != "functions") {
    std::fputs("interpreter_text operators|functions\n", stderr);
    return 2;
  }
  const std::string& text = diptych::gpu::interpreter_text(which == "functions").text();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
