// For tests that run on every usable device: kernel text that both compilers read, and the devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "base/error.h"
#include "engine/device/device.h"
#include "engine/device/device_list.h"

namespace diptych::testing {

// The least of kernel/device/platform.h that the kernels of these tests need: N parameters, addresses to pointers.
inline std::string device_text(DeviceApi api, int parameters) {
  const std::string word_count = std::to_string(parameters);
  if (api == DeviceApi::Cuda)
    return "typedef unsigned long long u64;\n"
           "typedef struct { u64 word[" +
           word_count +
           "]; } dk_parameters;\n"
           "#define GLOBAL\n#define KERNEL extern \"C\" __global__\n"
           "#define ID ((u64)blockIdx.x * blockDim.x + threadIdx.x)\n"
           "#define AT(type, address) ((type*)(address))\n";
  return "typedef ulong u64;\n"
         "typedef struct { u64 word[" +
         word_count +
         "]; } dk_parameters;\n"
         "#define GLOBAL __global\n#define KERNEL __kernel\n"
         "#define ID ((u64)get_global_id(0))\n"
         "#define AT(type, address) ((__global type*)((address) >> 63 ? mapped + ((address) << 1 >> 1) : memory + "
         "(address)))\n";
}

// For tests with "cuda" and "opencl" as parameters: the first device of each that can be used; where there is none, the
// test is skipped.
class EachDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    setenv("DIPTYCH_KERNEL_CACHE", "off", 1);
    try {
      device_ = devices_.find(GetParam());
    } catch (const Error& error) {
      ASSERT_EQ(error.state(), SqlState::invalid_parameter_value) << error.what();
      GTEST_SKIP() << error.what();
    }
    queue_ = device_->make_queue();
  }

  DeviceList devices_;
  Device* device_ = nullptr;
  std::unique_ptr<Queue> queue_;
};

}  // namespace diptych::testing
