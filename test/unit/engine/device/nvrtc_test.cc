// The tests' kernel through NVRTC, where that library can be loaded. Nothing is run: that takes a GPU.
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/device/cuda/cuda_api.h"
#include "engine/device/device_testing.h"

namespace diptych::testing {
namespace {

TEST(Nvrtc, TextToMachineCode) {
  std::string reason;
  auto nvrtc = cuda::Nvrtc::load(&reason);
  if (nvrtc == nullptr) GTEST_SKIP() << reason;
  const std::string text = device_text(DeviceApi::Cuda, 1) +
                           "KERNEL void mark(unsigned char* memory, unsigned char* mapped, const dk_parameters p) {\n"
                           "  AT(u64, p.word[0])[ID] = 1;\n}\n";
  EXPECT_EQ(nvrtc->compile(text, "mark", "sm_90").substr(1, 3), "ELF");
  try {
    nvrtc->compile(text + "no_such_type x;", "mark", "sm_90");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::system_error);
    EXPECT_NE(error.message().find("no_such_type"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace diptych::testing
