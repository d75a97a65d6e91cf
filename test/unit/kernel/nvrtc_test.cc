// The kernel subset compiled as CUDA C++ by NVRTC, where that library can be loaded. Nothing is run: that takes a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "kernel/kernel_text.h"

namespace diptych::testing {
namespace {

const char* const probe_kernel = R"(
extern "C" __global__ void probe(const dk_i64* numbers, const char* bytes, const dk_i32* ends, char* scratch,
                                 dk_u64* results) {
  dk_i32 row = (dk_i32)(blockIdx.x * blockDim.x + threadIdx.x);
  dk_text texts[3];
  for (dk_i32 i = 0; i < 3; i++) {
    dk_i32 from = ends[3 * row + i];
    texts[i] = dk_make_text(bytes + from, ends[3 * row + i + 1] - from);
  }
  for (dk_i32 which = 0; which < DK_PROBES; which++) {
    results[row * DK_PROBES + which] = dk_probe(which, numbers[2 * row], numbers[2 * row + 1], texts[0], texts[1],
                                                texts[2], scratch + row * 256);
  }
}
)";

// The functions of NVRTC that the test calls; its types are opaque pointers and error numbers.
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

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
  }
};

TEST(Nvrtc, CompilesTheKernelSubset) {
  Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no libnvrtc";
  const std::string text = kernel_text() + probe_kernel;
  const char* const options[] = {"--gpu-architecture=compute_90", "--fmad=false", "--std=c++17"};
  void* program = nullptr;
  ASSERT_EQ(nvrtc.create(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr), 0);
  int result = nvrtc.compile(program, 3, options);
  size_t bytes = 0;
  nvrtc.log_size(program, &bytes);
  std::string log(bytes, '\0');
  nvrtc.log(program, log.data());
  EXPECT_EQ(result, 0) << log;
  nvrtc.destroy(&program);
}

}  // namespace
}  // namespace diptych::testing
