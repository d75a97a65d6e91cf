// Measuring: on the devices that are there, and that NVRTC takes the text.
#include "engine/device/measure.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "engine/device/cuda/cuda_api.h"
#include "engine/device/device_list.h"

namespace diptych {
namespace {

TEST(Measure, HostMemory) {
  HostCalibration host;
  measure_host_memory(host, 2, 1 << 20);
  EXPECT_GT(host.read_one, 0);
  EXPECT_GE(host.read_all, host.read_one);
}

// In a process of its own, whose address space has room for a few threads' stacks.
TEST(MeasureDeathTest, HostMemoryWithFewerThreadsThanAskedFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto measure = [] {
    int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t room = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) + (rlim_t{64} << 20);
    const rlimit limit{room, room};
    if (setrlimit(RLIMIT_AS, &limit) != 0) std::exit(2);
    HostCalibration host;
    host.read_all = 0;
    measure_host_memory(host, 256, 1 << 20);
    std::exit(host.read_all > 0 ? 0 : 1);
  };
  EXPECT_EXIT(measure(), ::testing::ExitedWithCode(0), "");
}

void expect_figures(const DeviceCalibration& calibration) {
  for (const double figure : {calibration.read, calibration.to_device_pinned, calibration.to_device_pageable,
                              calibration.to_host_pinned, calibration.to_host_pageable, calibration.mapped,
                              calibration.launch_ns, calibration.compile_ns, calibration.multiply_ns})
    EXPECT_GT(figure, 0);
}

TEST(Measure, EveryUsableDevice) {
  DeviceList devices;
  int measured = 0;
  for (const DeviceInfo& info : devices.infos()) {
    if (!info.unusable.empty()) continue;
    Device* device = devices.find(info.id());
    expect_figures(measure_short(*device, HostCalibration()));
    const DeviceCalibration whole = measure_device(*device, HostCalibration(), 1 << 20);
    expect_figures(whole);
    EXPECT_FALSE(whole.is_short);
    ++measured;
  }
  if (measured == 0) GTEST_SKIP() << "no usable device";
}

TEST(Measure, NvrtcTakesTheText) {
  std::string reason;
  auto nvrtc = cuda::Nvrtc::load(&reason);
  if (nvrtc == nullptr) GTEST_SKIP() << reason;
  EXPECT_EQ(nvrtc->compile(measuring_text(), "read_memory", "sm_90").substr(1, 3), "ELF");
  EXPECT_EQ(nvrtc->compile(measuring_text(), "multiply", "sm_90").substr(1, 3), "ELF");
}

}  // namespace
}  // namespace diptych
