// The kernel subset compiled as CUDA C++ by NVRTC, where that library can be loaded. Nothing is run: that takes a GPU.
#include <gtest/gtest.h>

#include <string>

#include "kernel/kernel_text.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::testing {
namespace {

const char* const cuda_probe_kernel = R"(
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

TEST(Nvrtc, CompilesTheKernelSubset) {
  Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no libnvrtc";
  EXPECT_EQ(nvrtc.complaints(text_with_probe() + cuda_probe_kernel, "compute_90"), "");
}

}  // namespace
}  // namespace diptych::testing
