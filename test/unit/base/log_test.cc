#include "base/log.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

namespace diptych {
namespace {

TEST(Log, GoesToStandardErrorAlone) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  logger().warn("{}: a line", "opencl:0");
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  const std::string line = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("[diptych] [warning] opencl:0: a line\n"), std::string::npos) << line;
}

TEST(Log, TheApplicationsLoggersStay) {
  const auto before = spdlog::default_logger();
  logger().warn("a line");
  EXPECT_EQ(spdlog::default_logger(), before);
  EXPECT_EQ(spdlog::get("diptych"), nullptr);
}

}  // namespace
}  // namespace diptych
