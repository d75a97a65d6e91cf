#include "engine/device/background_compiler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <stdexcept>

#include "base/error.h"

namespace diptych {
namespace {

using Asker = BackgroundCompiler::Asker;

TEST(BackgroundCompiler, CompilesWhatIsAskedFor) {
  std::atomic<int> compiled = 0;
  BackgroundCompiler compiler([&](const KernelText&) { ++compiled; }, 3);
  for (const char* text : {"a", "b", "c"}) compiler.ask({text, "entry"}, Asker::Nobody);
  compiler.ask({"a", "another entry"}, Asker::Nobody);
  compiler.wait();
  EXPECT_EQ(compiled, 4);
  compiler.ask({"a", "entry"}, Asker::Nobody);  // what a cache has forgotten is compiled again
  compiler.wait();
  EXPECT_EQ(compiled, 5);
  EXPECT_TRUE(compiler.take_failures().empty());
}

// Each waits for all others.
TEST(BackgroundCompiler, CompilesAsManyAtTheSameTimeAsItHasThreads) {
  std::barrier<> all(4);
  std::atomic<int> compiled = 0;
  BackgroundCompiler compiler(
      [&](const KernelText&) {
        all.arrive_and_wait();
        ++compiled;
      },
      4);
  for (int i = 0; i < 8; ++i) compiler.ask({std::to_string(i), "entry"}, Asker::Section);
  compiler.wait();
  EXPECT_EQ(compiled, 8);
}

TEST(BackgroundCompiler, CompilesNoMoreThanThatAndNoneTwice) {
  std::atomic<int> running = 0, most = 0, compiled = 0;
  BackgroundCompiler compiler(
      [&](const KernelText&) {
        const int now = ++running;
        for (int known = most; known < now && !most.compare_exchange_weak(known, now);) continue;
        ++compiled;
        --running;
      },
      2);
  for (int i = 0; i < 100; ++i) compiler.ask({std::to_string(i), "entry"}, Asker::Section);
  compiler.wait();
  EXPECT_EQ(compiled, 100);
  EXPECT_LE(most, 2);
}

TEST(BackgroundCompiler, TellsAFailureOnceAndDoesNotTryAgain) {
  std::atomic<int> tries = 0;
  BackgroundCompiler compiler(
      [&](const KernelText& kernel) {
        ++tries;
        if (kernel.text() == "wrong") throw std::runtime_error("line 1");
      },
      2);
  compiler.ask({"wrong", "entry"}, Asker::Nobody);
  compiler.ask({"right", "entry"}, Asker::Nobody);
  compiler.wait();
  EXPECT_EQ(compiler.take_failures(), std::vector<std::string>{"a kernel does not compile: line 1"});
  compiler.ask({"wrong", "entry"}, Asker::Nobody);
  compiler.wait();
  EXPECT_EQ(tries, 2);
  EXPECT_TRUE(compiler.take_failures().empty());
}

TEST(BackgroundCompiler, LeavesAFailureToTheSectionThatNeedsTheKernel) {
  BackgroundCompiler compiler([](const KernelText&) { throw std::runtime_error("line 1"); }, 1);
  const KernelText wrong{"wrong", "entry"};
  compiler.ask(wrong, Asker::Section);
  compiler.wait();
  EXPECT_TRUE(compiler.take_failures().empty());
  compiler.take(wrong);
  compiler.ask(wrong, Asker::Section);
  compiler.wait();
  EXPECT_TRUE(compiler.take_failures().empty());
  // Where another kernel serves instead, nobody else tells.
  compiler.ask(wrong, Asker::Nobody);
  compiler.ask(wrong, Asker::Nobody);
  EXPECT_EQ(compiler.take_failures().size(), 1U);
}

// Compiles when it is told to.
class HeldCompiler {
 public:
  explicit HeldCompiler(int threads)
      : compiler([this](const KernelText& kernel) { compile(kernel.text()); }, threads) {}
  ~HeldCompiler() { release(); }
  void release() {
    released_ = true;
    released_.notify_all();
  }
  void wait_for_start() const { started_.wait(0); }
  bool has_compiled(const std::string& text) {
    std::lock_guard guard(mutex_);
    return compiled_.contains(text);
  }

 private:
  void compile(const std::string& text) {
    ++started_;
    started_.notify_all();
    released_.wait(false);
    std::lock_guard guard(mutex_);
    compiled_[text] = true;
  }

  std::atomic<int> started_ = 0;
  std::atomic<bool> released_ = false;
  std::mutex mutex_;
  std::map<std::string, bool> compiled_;

 public:
  BackgroundCompiler compiler;
};

TEST(BackgroundCompiler, AKernelThatWaitsIsTheCallersOwn) {
  HeldCompiler held(1);
  held.compiler.ask({"first", "entry"}, Asker::Section);
  held.wait_for_start();
  held.compiler.ask({"second", "entry"}, Asker::Section);
  held.compiler.take({"second", "entry"});
  held.compiler.take({"never asked for", "entry"});
  EXPECT_FALSE(held.has_compiled("first"));
  held.release();
  held.compiler.wait();
  EXPECT_TRUE(held.has_compiled("first"));
  EXPECT_FALSE(held.has_compiled("second"));
}

TEST(BackgroundCompiler, DropsWhatWaitsAtTheEnd) {
  std::atomic<bool> released = false;
  std::atomic<int> compiled = 0;
  std::thread releaser;
  {
    BackgroundCompiler compiler(
        [&](const KernelText&) {
          released.wait(false);
          ++compiled;
        },
        4);
    for (int i = 0; i < 100; ++i) compiler.ask({std::to_string(i), "entry"}, Asker::Section);
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
