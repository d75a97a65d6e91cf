// For tests that run on every usable device: kernel text that both compilers read, and the devices.
#pragma once

#include <gtest/gtest.h>

#include <string>

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

}  // namespace diptych::testing
