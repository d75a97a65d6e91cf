// What a database knows of its devices, with a device that is host memory and measured only when the test lets it be.
#include "engine/device/calibration_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

#include "base/error.h"

namespace diptych {
namespace {

class MemoryQueue final : public Queue {
 public:
  bool has_happened(const DeviceEvent&) override { return true; }
  int64_t nanoseconds_between(const DeviceEvent&, const DeviceEvent&) override { return 0; }

 private:
  void queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) override {
    std::memset(reinterpret_cast<void*>(to.value), value, static_cast<size_t>(bytes));
  }
  std::unique_ptr<DeviceEvent> queue_record() override { return nullptr; }
  void queue_wait_for(const DeviceEvent&) override {}
  void queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to.value), from, static_cast<size_t>(bytes));
  }
  void queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) override {
    std::memcpy(to, reinterpret_cast<const void*>(from.value), static_cast<size_t>(bytes));
  }
  void queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) override {
    std::memcpy(reinterpret_cast<void*>(to.value), reinterpret_cast<const void*>(from.value),
                static_cast<size_t>(bytes));
  }
  void queue_launch(const Kernel&, int64_t, int, std::span<const uint64_t>, int64_t) override {}
  void wait() override {}
};

class MemoryDevice final : public Device {
 public:
  explicit MemoryDevice(const std::string& name) {
    info_.name = name;
    info_.memory_bytes = int64_t{64} << 20;
  }

  // Called by the measuring thread before it measures.
  std::function<void()> before = [] {};
  std::atomic<int> measurements{0};

  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t bytes, uint64_t) override {
    return DeviceBuffer(this, {reinterpret_cast<uint64_t>(new std::byte[static_cast<size_t>(bytes)])}, bytes);
  }
  PinnedBuffer allocate_pinned(int64_t bytes, const char*) override {
    return {this, new std::byte[static_cast<size_t>(bytes)], {}, bytes};
  }
  void set_memory_limit(int64_t) override {}
  int64_t memory_limit() const override { return -1; }
  DeviceMemoryUse memory_use() const override { return {}; }
  std::unique_ptr<Queue> make_queue() override {
    ++measurements;
    before();
    return std::make_unique<MemoryQueue>();
  }
  std::shared_ptr<const Kernel> compile(const KernelText&, CompileReport*) override { return nullptr; }
  std::shared_ptr<const Kernel> find_compiled(const KernelText&) override { return nullptr; }

 private:
  std::optional<uint64_t> reserve(int64_t) override { return std::nullopt; }
  void release(uint64_t) noexcept override {}
  void free(DeviceAddress address, int64_t) noexcept override { delete[] reinterpret_cast<std::byte*>(address.value); }
  void free_pinned(std::byte* data, int64_t) noexcept override { delete[] data; }
  void shrink_pinned(std::byte*, int64_t) noexcept override {}

  DeviceInfo info_;
};

class CalibrationStoreTest : public ::testing::Test {
 protected:
  CalibrationStoreTest()
      : folder_(std::filesystem::temp_directory_path() / ("diptych-calibrations-" + std::to_string(getpid()))),
        path_(folder_ / "calibration.json") {}
  ~CalibrationStoreTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_, path_;
};

TEST_F(CalibrationStoreTest, NobodyWaitsForAMeasurement) {
  CalibrationStore store(path_);
  MemoryDevice known("known"), device("new");
  store.of(known);
  std::latch begun(1), asked(1);
  device.before = [&] {
    begun.count_down();
    asked.wait();
  };
  std::jthread measuring([&] { store.of(device); });
  begun.wait();
  EXPECT_GT(store.host().read_one, 0);
  EXPECT_TRUE(store.find(known.info()).has_value());
  EXPECT_FALSE(store.find(device.info()).has_value());
  store.of(known);
  asked.count_down();
  measuring.join();
  EXPECT_TRUE(store.find(device.info()).has_value());
  EXPECT_TRUE(read_calibration(path_)->devices.contains(device_key(device.info())));
}

TEST_F(CalibrationStoreTest, ThreadsThatMeetMeasureOnce) {
  CalibrationStore store(path_);
  MemoryDevice first("first"), second("second");
  std::vector<DeviceCalibration> calibrations(8);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < calibrations.size(); ++i)
      threads.emplace_back([&, i] { calibrations[i] = store.of(i % 2 == 0 ? first : second); });
  }
  EXPECT_EQ(first.measurements, 1);
  EXPECT_EQ(second.measurements, 1);
  for (size_t i = 2; i < calibrations.size(); ++i) EXPECT_EQ(calibrations[i].read, calibrations[i % 2].read);
  const auto written = read_calibration(path_);
  ASSERT_TRUE(written.has_value());
  EXPECT_EQ(written->devices.size(), 2U);
}

TEST_F(CalibrationStoreTest, WithoutRoomTheUsualFiguresServe) {
  CalibrationStore store(path_);
  MemoryDevice device("full");
  device.before = [] { throw Error(SqlState::out_of_memory, "full"); };
  EXPECT_EQ(store.of(device).read, DeviceCalibration().read);
  EXPECT_EQ(store.of(device).read, DeviceCalibration().read);
  EXPECT_EQ(device.measurements, 1);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace diptych
