#include "engine/device/device_list.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/device/fault_device.h"

namespace diptych::testing {
namespace {

class FakeDriver final : public DeviceDriver {
 public:
  FakeDriver(std::string absent, std::vector<DeviceInfo> infos)
      : absent_(std::move(absent)), infos_(std::move(infos)) {}
  const std::string& absent() const override { return absent_; }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::unique_ptr<Device> open(int number) override { throw Error(SqlState::system_error, std::to_string(number)); }

 private:
  std::string absent_;
  std::vector<DeviceInfo> infos_;
};

std::unique_ptr<DeviceList> list_of(std::string no_cuda, std::vector<std::string> unusable) {
  std::vector<DeviceInfo> infos;
  for (const auto& reason : unusable) {
    DeviceInfo info;
    info.api = DeviceApi::OpenCl;
    info.number = static_cast<int>(infos.size());
    info.unusable = reason;
    infos.push_back(info);
  }
  std::vector<std::unique_ptr<DeviceDriver>> drivers;
  drivers.push_back(std::make_unique<FakeDriver>(no_cuda, std::vector<DeviceInfo>()));
  drivers.push_back(std::make_unique<FakeDriver>("", infos));
  return std::make_unique<DeviceList>(std::move(drivers));
}

// The message of find, which fails in all these tests.
std::string message_of(DeviceList& list, const char* id, SqlState state) {
  try {
    list.find(id);
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), state) << id;
    return error.message();
  }
  ADD_FAILURE() << id;
  return {};
}

TEST(DeviceList, SaysWhyADeviceCannotBeUsed) {
  auto owner = list_of("no such library", {"no double precision", ""});
  DeviceList& list = *owner;
  const SqlState refused = SqlState::invalid_parameter_value;
  EXPECT_NE(message_of(list, "cuda", refused).find("no such library"), std::string::npos);
  EXPECT_NE(message_of(list, "opencl:0", refused).find("no double precision"), std::string::npos);
  for (const char* id : {"opencl:2", "opencl:-1", "opencl:", "opencl:1x", "vulkan", "", ":", "opencl:99999999999"})
    message_of(list, id, refused);
  EXPECT_EQ(message_of(list, "opencl", SqlState::system_error), "1") << "the first usable one";
  EXPECT_EQ(message_of(list, "opencl:1", SqlState::system_error), "1");
  EXPECT_EQ(list.infos().size(), 2u);
  EXPECT_EQ(list.infos()[1].id(), "opencl:1");
  EXPECT_EQ(list.absent(), std::vector<std::string>{"cuda: no such library"});
}

TEST(DeviceList, SaysHowManyThereAre) {
  const SqlState refused = SqlState::invalid_parameter_value;
  const auto says = [&](std::vector<std::string> unusable, const char* id, const char* what) {
    auto list = list_of("", std::move(unusable));
    const std::string message = message_of(*list, id, refused);
    EXPECT_TRUE(message.ends_with(what)) << message;
  };
  says({"", ""}, "opencl:2", ": there are 2 such devices, counted from 0");
  says({""}, "opencl:5", ": there is one such device, opencl:0");
  says({""}, "opencl:99999999999", ": there is one such device, opencl:0");
  says({}, "opencl:0", ": there is no such device");
  for (const char* id : {"opencl:00", "opencl:-1", "opencl:", "opencl:+0", "opencl:0 "})
    says({""}, id, ": devices are called cuda, cuda:0, opencl, opencl:0 and so on");
}

TEST(DeviceList, FaultsComeWhenAsked) {
  DeviceList list;
  Device* device = nullptr;
  try {
    device = list.find("opencl");
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  FaultDevice faulty(*device);
  faulty.fail(DeviceCall::Allocation, 1);
  {
    DeviceBuffer first = faulty.allocate(100, "first");
    EXPECT_THROW(faulty.allocate(100, "second"), Error);
    DeviceBuffer third = faulty.allocate(100, "third");
    PinnedBuffer fourth = faulty.allocate_pinned(100, "fourth");
    EXPECT_EQ(faulty.live_buffers(), 2);
    EXPECT_EQ(faulty.live_pinned(), 1);
  }
  EXPECT_EQ(faulty.live_buffers(), 0);
  EXPECT_EQ(faulty.live_pinned(), 0);
  EXPECT_EQ(device->memory_use().used_bytes, 0);
  faulty.fail(DeviceCall::Allocation, 0, true);
  for (int i = 0; i < 3; i++) EXPECT_FALSE(faulty.try_allocate(1, 0).has_value());
  faulty.fail(DeviceCall::Allocation, -1);
  EXPECT_TRUE(faulty.try_allocate(1, 0).has_value());
}

}  // namespace
}  // namespace diptych::testing
