#include <gtest/gtest.h>

#include <thread>

#include "engine/device/cuda/cuda_driver.h"
#include "engine/device/cuda/cuda_memory.h"

namespace diptych::cuda {
namespace {

// The thread is an application's, which may work on another device, or in another context of this one.
TEST(CudaContext, TheCallersIsItsOwnAgainAfterEachCall) {
  std::string reason;
  const std::shared_ptr<const Api> api = Api::load(&reason);
  CudaDriver driver;
  if (api == nullptr || driver.infos().empty() || !driver.infos()[0].unusable.empty()) GTEST_SKIP() << reason;
  std::jthread([&] {
    const auto is_free = [&] {
      CUcontext current = nullptr;
      return api->CtxGetCurrent(&current) == success && current == nullptr;
    };
    ASSERT_TRUE(is_free());
    {
      const auto device = driver.open(0);
      EXPECT_TRUE(is_free());
      const auto queue = device->make_queue();
      EXPECT_TRUE(is_free());
      DeviceBuffer buffer = device->allocate(1 << 20, "a test");
      EXPECT_TRUE(is_free());
      {
        const std::shared_ptr<const void> entered = device->enter();
        EXPECT_FALSE(is_free());
        queue->fill(buffer.address(), 1, buffer.bytes());
        queue->synchronize();
        EXPECT_FALSE(is_free());
      }
      EXPECT_TRUE(is_free());
    }
    EXPECT_TRUE(is_free());
  }).join();
}

}  // namespace
}  // namespace diptych::cuda
