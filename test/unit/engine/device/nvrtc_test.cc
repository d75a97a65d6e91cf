// The tests' kernel through NVRTC, where that library can be loaded. Nothing is run: that takes a GPU.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/error.h"
#include "base/exit_hold.h"
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

// As programs end that do not close their databases.
TEST(Nvrtc, AProcessMayEndWhileAThreadCompiles) {
  std::string reason;
  auto nvrtc = cuda::Nvrtc::load(&reason);
  if (nvrtc == nullptr) GTEST_SKIP() << reason;
  const auto end_while_compiling = [&] {
    ExitHold::note_libraries();
    std::atomic<bool> has_begun = false;
    std::thread compiles([&] {
      const ExitHold hold;
      has_begun = true;
      for (int i = 0; i < 10; ++i) {
        const std::string name = "mark" + std::to_string(i);
        nvrtc->compile(device_text(DeviceApi::Cuda, 1) + "KERNEL void " + name +
                           "(unsigned char* memory, unsigned char* mapped, const dk_parameters p) {}\n",
                       name, "sm_90");
      }
    });
    compiles.detach();
    while (!has_begun) std::this_thread::yield();
    std::exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // threads of the compiler do not come along with a fork
  EXPECT_EXIT(end_while_compiling(), ::testing::ExitedWithCode(0), "");
}

// For tools; they name a kernel on disk, too.
TEST(Nvrtc, TakesMoreOptions) {
  std::string reason;
  auto nvrtc = cuda::Nvrtc::load(&reason);
  if (nvrtc == nullptr) GTEST_SKIP() << reason;
  const std::string usual = cuda::compiler_options();
  EXPECT_FALSE(cuda::has_more_options());
  const std::string text = device_text(DeviceApi::Cuda, 1) +
                           "#if FIRST != 1 || !defined(SECOND)\n#error \"not asked for\"\n#endif\n"
                           "KERNEL void mark(unsigned char* memory, unsigned char* mapped, const dk_parameters p) {\n"
                           "  AT(u64, p.word[0])[ID] = 1;\n}\n";
  EXPECT_THROW(nvrtc->compile(text, "mark", "sm_90"), Error);
  ASSERT_EQ(setenv("DIPTYCH_NVRTC_OPTIONS", " -DFIRST=1  -DSECOND", 1), 0);
  EXPECT_TRUE(cuda::has_more_options());
  EXPECT_EQ(cuda::compiler_options(), usual + "-DFIRST=1 -DSECOND ");
  EXPECT_EQ(nvrtc->compile(text, "mark", "sm_90").substr(1, 3), "ELF");
  unsetenv("DIPTYCH_NVRTC_OPTIONS");
}

}  // namespace
}  // namespace diptych::testing
