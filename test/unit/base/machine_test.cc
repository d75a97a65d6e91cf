#include "base/machine.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace diptych {
namespace {

// Files as Linux shows them to a process, under a folder of its own.
class ControlGroups : public testing::Test {
 protected:
  ControlGroups() { std::filesystem::create_directories(root_); }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  ControlGroupLimits limits() const { return control_group_limits(root_.string()); }
  int64_t cache() const { return cache_bytes_of_processor(root_.string()); }

 private:
  std::filesystem::path root_ =
      std::filesystem::temp_directory_path() / ("diptych-groups-" + std::to_string(::getpid()));
};

TEST_F(ControlGroups, CachesAreDividedAmongTheProcessorsThatShareThem) {
  const std::string caches = "sys/devices/system/cpu/cpu0/cache/index";
  EXPECT_EQ(cache(), 0);
  put(caches + "0/level", "1\n");
  put(caches + "0/size", "32K\n");
  put(caches + "0/shared_cpu_list", "0\n");
  EXPECT_EQ(cache(), 0) << "the first level's is too small to count";
  put(caches + "2/level", "2\n");
  put(caches + "2/size", "1024K\n");
  put(caches + "2/shared_cpu_list", "0\n");
  EXPECT_EQ(cache(), 1 << 20);
  put(caches + "3/level", "3\n");
  put(caches + "3/size", "32M\n");
  put(caches + "3/shared_cpu_list", "0-6,16\n");
  EXPECT_EQ(cache(), (1 << 20) + (4 << 20));
}

TEST_F(ControlGroups, NoneLimitNothing) {
  EXPECT_FALSE(limits().memory_bytes);
  EXPECT_FALSE(limits().processors);
}

TEST_F(ControlGroups, UnifiedTreeTakesTheLeastOfTheGroupsAround) {
  put("proc/self/cgroup", "0::/service/query\n");
  put("sys/fs/cgroup/service/query/memory.max", "max\n");
  put("sys/fs/cgroup/service/query/cpu.max", "250000 100000\n");
  put("sys/fs/cgroup/service/memory.max", "1073741824\n");
  put("sys/fs/cgroup/service/cpu.max", "max 100000\n");
  put("sys/fs/cgroup/memory.max", "2147483648\n");
  EXPECT_EQ(limits().memory_bytes, int64_t{1} << 30);
  EXPECT_EQ(limits().processors, 2.5);
}

TEST_F(ControlGroups, TreesOfControllersInAContainerThatDoesNotShowTheHostsFolders) {
  put("proc/self/cgroup", "5:cpuacct,cpu:/docker/0123\n4:memory:/docker/0123\n1:name=systemd:/docker/0123\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits().memory_bytes, int64_t{1} << 29);
  EXPECT_EQ(limits().processors, 0.5);
}

TEST_F(ControlGroups, WhatHoldsNoNumberLimitsNothing) {
  put("proc/self/cgroup", "nothing\n4:memory:\n5:cpu:relative/path\n0::/\n");
  put("sys/fs/cgroup/memory/memory.limit_in_bytes", "many\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  put("sys/fs/cgroup/cpu.max", "max\n");
  EXPECT_FALSE(limits().memory_bytes);
  EXPECT_FALSE(limits().processors);
}

TEST(Machine, HasMemoryAndThreads) {
  EXPECT_GT(machine_memory_bytes(), 0);
  EXPECT_GE(machine_threads(), 1);
}

}  // namespace
}  // namespace diptych
