// NVRTC, where that library can be loaded: kernel text is compiled, and nothing is run.
#pragma once

#include <dlfcn.h>

#include <cstring>
#include <string>

namespace diptych::testing {

// The functions of NVRTC that the tests call; its types are opaque pointers and error numbers.
struct Nvrtc {
  void* library = nullptr;  // stays loaded: it keeps memory of its own, which would look leaked after a dlclose
  int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*compile)(void*, int, const char* const*) = nullptr;
  int (*log_size)(void*, size_t*) = nullptr;
  int (*log)(void*, char*) = nullptr;
  int (*destroy)(void**) = nullptr;

  bool load() {
    for (const char* name : {"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so"}) {
      library = dlopen(name, RTLD_NOW);
      if (library != nullptr) break;
    }
    if (library == nullptr) return false;
    find(create, "nvrtcCreateProgram");
    find(compile, "nvrtcCompileProgram");
    find(log_size, "nvrtcGetProgramLogSize");
    find(log, "nvrtcGetProgramLog");
    find(destroy, "nvrtcDestroyProgram");
    return true;
  }

  // What the compiler has to say about the text for that architecture ("sm_90"); empty: it compiles without warnings.
  std::string complaints(const std::string& text, const std::string& architecture) const {
    const std::string target = "--gpu-architecture=" + architecture;
    const char* const options[] = {target.c_str(), "--fmad=false", "--std=c++17"};
    void* program = nullptr;
    if (create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) != 0) return "nvrtcCreateProgram failed";
    int result = compile(program, 3, options);
    size_t bytes = 1;
    log_size(program, &bytes);
    std::string said(bytes, '\0');
    log(program, said.data());
    destroy(&program);
    said.resize(std::strlen(said.c_str()));
    return result != 0 && said.empty() ? "nvrtcCompileProgram failed" : said;
  }

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

}  // namespace diptych::testing
