// The calibration's file: what was written is read, and nothing else is trusted.
#include "cost/calibration.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace diptych {
namespace {

class CalibrationFile : public ::testing::Test {
 protected:
  CalibrationFile() {
    folder_ = std::filesystem::temp_directory_path() / ("diptych-calibration-" + std::to_string(getpid()));
    path_ = folder_ / "below" / "calibration.json";
  }
  ~CalibrationFile() override { std::filesystem::remove_all(folder_); }

  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& text) const {
    std::filesystem::create_directories(path_.parent_path());
    std::ofstream(path_) << text;
  }

  std::filesystem::path folder_, path_;
};

MachineCalibration some_calibration() {
  MachineCalibration calibration;
  calibration.host.is_measured = true;
  calibration.host.read_all = 81.5e9;
  calibration.host.row_ns[static_cast<size_t>(WorkKind::Divide)] = 17.25;
  DeviceCalibration& device = calibration.devices["A device, driver 5"];
  device.read = 4.35e12;
  device.launch_ns = 9400;
  device.is_short = false;
  return calibration;
}

TEST_F(CalibrationFile, WhatIsWrittenIsRead) {
  write_calibration(path_, some_calibration());
  const auto read = read_calibration(path_);
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(read->host.is_measured);
  EXPECT_EQ(read->host.read_all, 81.5e9);
  EXPECT_EQ(read->host.row_ns, some_calibration().host.row_ns);
  ASSERT_EQ(read->devices.size(), 1U);
  const DeviceCalibration& device = read->devices.at("A device, driver 5");
  EXPECT_EQ(device.read, 4.35e12);
  EXPECT_EQ(device.launch_ns, 9400);
  EXPECT_FALSE(device.is_short);
}

TEST_F(CalibrationFile, OtherMachinesStay) {
  put(R"({"version": 1, "machines": {"another machine": {"host": "whatever"}}})");
  EXPECT_FALSE(read_calibration(path_).has_value());
  write_calibration(path_, some_calibration());
  EXPECT_TRUE(read_calibration(path_).has_value());
  EXPECT_NE(text().find("another machine"), std::string::npos);
}

// As the databases of one process do.
TEST_F(CalibrationFile, WritersDoNotDisturbEachOther) {
  write_calibration(path_, some_calibration());
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([this] {
        for (int round = 0; round < 100; ++round) {
          EXPECT_NO_THROW(write_calibration(path_, some_calibration()));
          EXPECT_TRUE(read_calibration(path_).has_value());
        }
      });
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path_.parent_path()), {}), 1) << "drafts are left";
}

TEST_F(CalibrationFile, NothingElseIsTrusted) {
  EXPECT_FALSE(read_calibration("").has_value());
  EXPECT_FALSE(read_calibration(path_).has_value());
  for (const char* text : {"", "{", "[1, 2]", "null", "{}", R"({"version": 2, "machines": {}})",
                           R"({"version": 1, "machines": []})", "\xFF\xFE\x00"}) {
    put(text);
    EXPECT_FALSE(read_calibration(path_).has_value()) << text;
  }
  // Cut off at any place, or with a figure that can't be.
  write_calibration(path_, some_calibration());
  const std::string whole = text();
  for (size_t length = 0; length < whole.size() - 2; length += 37) {
    put(whole.substr(0, length));
    EXPECT_FALSE(read_calibration(path_).has_value()) << length;
  }
  std::string wrong = whole;
  wrong.replace(wrong.find("9400"), 4, "-400");
  put(wrong);
  EXPECT_FALSE(read_calibration(path_).has_value());
  // What can't be trusted is replaced.
  write_calibration(path_, some_calibration());
  EXPECT_EQ(text(), whole);
}

TEST_F(CalibrationFile, ThatCantBeWritten) {
  put("a file");
  EXPECT_ANY_THROW(write_calibration(path_ / "calibration.json", some_calibration()));
}

}  // namespace
}  // namespace diptych
