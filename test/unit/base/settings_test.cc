#include "base/settings.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace diptych {
namespace {

void expect_refused(Settings& settings, std::string_view name, const std::string& value) {
  const std::string before = settings.text_of(name);
  try {
    settings.set(name, &value);
    ADD_FAILURE() << name << " = " << value;
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::invalid_parameter_value);
    EXPECT_NE(error.message().find('"' + value + '"'), std::string::npos) << "as it was written: " << error.message();
  }
  EXPECT_EQ(settings.text_of(name), before);
}

std::string after(std::string_view name, const std::string& value) {
  Settings settings;
  settings.set(name, &value);
  return settings.text_of(name);
}

TEST(Settings, WordsAreKeptInLowerCase) {
  EXPECT_EQ(after("gpu_engine", "GENERATED"), "generated");
  EXPECT_EQ(after("fallback", "Warn"), "warn");
  EXPECT_EQ(after("device", "OPENCL:0"), "opencl:0");
  EXPECT_EQ(after("device", "Auto"), "auto");
  EXPECT_EQ(after("temp_directory", "/A/Folder"), "/A/Folder");
}

TEST(Settings, OtherWordsAreRefused) {
  Settings settings;
  for (const char* word : {"", "warnings", "WAR", "count|warn", "|", " warn"})
    expect_refused(settings, "fallback", word);
  for (const char* device : {"", "gpu", "cpu:0", "opencl:", "opencl:00", "cuda:01", "cuda:1000", "CUDA:x", "cuda: 1"})
    expect_refused(settings, "device", device);
  for (const char* device : {"cuda:0", "cuda:10", "opencl:999"}) EXPECT_EQ(after("device", device), device);
}

}  // namespace
}  // namespace diptych
