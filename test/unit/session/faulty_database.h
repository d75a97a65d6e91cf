// A database with a table of some tablets and an OpenCL device whose calls fail where a test says so.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/posix_file_system.h"
#include "engine/device/absent_driver.h"
#include "engine/device/fault_device.h"
#include "engine/device/opencl/opencl_device.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych::testing {

// Two segments of tablets, so that residencies that go segment by segment have several batches.
inline const std::string make_table =
    "CREATE TABLE t AS SELECT i, i % 7 k, i::bigint * 7919 % 1003 l, "
    "CASE WHEN i % 5 = 0 THEN NULL ELSE (i % 100)::numeric(9, 2) END n, 'name ' || i % 10 e, 'long ' || i h "
    "FROM generate_series(1, 5000) g(i)";

// Opens devices that can fail above one that stays open, and with it its kernels; as many as `opened` has room for.
class FaultDriver final : public DeviceDriver {
 public:
  FaultDriver(Device& device, std::vector<FaultDevice*>& opened) : device_(device), opened_(opened) {
    while (infos_.size() < opened_.size()) {
      infos_.push_back(device.info());
      infos_.back().number = static_cast<int>(infos_.size()) - 1;
    }
  }
  const std::string& absent() const override { return absent_; }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::string why_lost(int number) const override {
    const FaultDevice* device = opened_[static_cast<size_t>(number)];
    return device == nullptr ? "" : device->health().why_lost();
  }
  std::unique_ptr<Device> open(int number) override {
    auto device = std::make_unique<FaultDevice>(device_, number);
    opened_[static_cast<size_t>(number)] = device.get();
    return device;
  }

 private:
  Device& device_;
  std::vector<FaultDevice*>& opened_;
  std::string absent_;
  std::vector<DeviceInfo> infos_;
};

// The rows as lines, in order.
inline std::vector<std::string> run(Connection& connection, const std::string& sql) {
  connection.start_statement();
  const auto rows = Statement(connection, sql).run();
  std::vector<std::string> lines;
  const size_t columns = rows->columns().size();
  size_t i = 0;
  for (const Value& value : read_values(*rows)) {
    if (i++ % columns == 0) lines.emplace_back();
    lines.back() += (value.is_null() ? "NULL" : value.to_text()) + "|";
  }
  return lines;
}

// A database with the table, nothing of which is on the device yet.
class FaultyDatabase {
 public:
  FaultyDatabase(Device& device, const std::string& residency, size_t devices = 1)
      : devices_(devices), database_(":memory:", files_, drivers(device)), connection_(database_) {
    for (size_t number = 0; number < devices; ++number)
      database_.engines().devices().find("opencl:" + std::to_string(number));
    run(connection_, "SET tablet_rows = 64");
    run(connection_, make_table);
    run(connection_, "SET residency = " + residency);
    // Whether an interpreter runs or the kernel that a thread compiles would be left to chance.
    run(connection_, "SET gpu_engine = generated");
  }

  void set(const std::string& setting) { run(connection_, "SET " + setting); }
  // The rows as lines, sorted.
  std::vector<std::string> run_on(const std::string& device, const std::string& query) {
    std::vector<std::string> lines = run_in_order(device, query);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  std::vector<std::string> run_in_order(const std::string& device, const std::string& query) {
    set("device = '" + device + "'");
    return run(connection_, query);
  }
  FaultDevice& device(size_t number = 0) { return *devices_[number]; }
  Database& database() { return database_; }
  int64_t fallbacks() {
    int64_t all = 0;
    for (const auto& [reason, count] : database_.engines().fallbacks()) all += count;
    return all;
  }

 private:
  std::vector<std::unique_ptr<DeviceDriver>> drivers(Device& device) {
    std::vector<std::unique_ptr<DeviceDriver>> drivers;
    drivers.push_back(std::make_unique<AbsentDriver>());
    drivers.push_back(std::make_unique<FaultDriver>(device, devices_));
    return drivers;
  }

  PosixFileSystem files_;
  std::vector<FaultDevice*> devices_;
  Database database_;
  Connection connection_;
};

// Tests with an OpenCL device that stays open for all of a suite.
class OpenClDeviceTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    driver_ = std::make_unique<opencl::OpenClDriver>();
    for (const DeviceInfo& info : driver_->infos())
      if (info.unusable.empty() && !device_) device_ = driver_->open(info.number);
  }
  static void TearDownTestSuite() {
    device_.reset();
    driver_.reset();
  }
  void SetUp() override {
    if (!device_) GTEST_SKIP() << "no OpenCL device";
  }
  // For a SetUp: skips the test of a residency that the device does not have.
  static void skip_unless_it_has(const std::string& residency) {
    if (device_ && residency == "mapped" && !device_->info().can_map)
      GTEST_SKIP() << "no kernel of this device reads host memory";
  }

  static inline std::unique_ptr<opencl::OpenClDriver> driver_;
  static inline std::unique_ptr<Device> device_;
};

}  // namespace diptych::testing
