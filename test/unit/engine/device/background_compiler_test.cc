#include "engine/device/background_compiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace diptych {
namespace {

TEST(BackgroundCompiler, CompilesWhatIsAskedFor) {
  std::atomic<int> compiled = 0;
  BackgroundCompiler compiler([&](const std::string&, const std::string&) { ++compiled; });
  for (const char* text : {"a", "b", "c"}) compiler.ask(text, "entry");
  compiler.wait();
  EXPECT_EQ(compiled, 3);
  compiler.ask("a", "entry");  // what a cache has forgotten is compiled again
  compiler.wait();
  EXPECT_EQ(compiled, 4);
  EXPECT_TRUE(compiler.take_failures().empty());
}

TEST(BackgroundCompiler, TellsAFailureOnceAndDoesNotTryAgain) {
  std::atomic<int> tries = 0;
  BackgroundCompiler compiler([&](const std::string& text, const std::string&) {
    ++tries;
    if (text == "wrong") throw std::runtime_error("line 1");
  });
  compiler.ask("wrong", "entry");
  compiler.ask("right", "entry");
  compiler.wait();
  EXPECT_EQ(compiler.take_failures(), std::vector<std::string>{"a kernel does not compile: line 1"});
  compiler.ask("wrong", "entry");
  compiler.wait();
  EXPECT_EQ(tries, 2);
  EXPECT_TRUE(compiler.take_failures().empty());
}

TEST(BackgroundCompiler, DropsWhatWaitsAtTheEnd) {
  std::atomic<bool> released = false;
  std::atomic<int> compiled = 0;
  std::thread releaser;
  {
    BackgroundCompiler compiler([&](const std::string&, const std::string&) {
      released.wait(false);
      ++compiled;
    });
    for (int i = 0; i < 100; ++i) compiler.ask(std::to_string(i), "entry");
    releaser = std::thread([&] {
      released = true;
      released.notify_all();
    });
  }
  releaser.join();
  EXPECT_LE(compiled, 100);
}

}  // namespace
}  // namespace diptych
