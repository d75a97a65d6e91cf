#include "engine/device/kernel_cache.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>

#include "base/error.h"
#include "engine/device/stop_check.h"

namespace diptych::testing {
namespace {

namespace fs = std::filesystem;

class TextKernel final : public Kernel {
 public:
  explicit TextKernel(std::string text) : text(std::move(text)) {}
  int groups_per_unit(int, int64_t) const override { return 1; }
  const std::string text;
};

// Its binary is the text.
class FakeCompiler final : public KernelCompiler {
 public:
  std::string identity() const override { return version; }
  Built build(const std::string& text, const std::string&) override {
    builds++;
    builds.notify_all();
    holds.wait(true);
    if (text == "wrong") throw Error(SqlState::system_error, "does not compile");
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    return {std::make_shared<TextKernel>(text), {bytes, bytes + text.size()}};
  }
  std::shared_ptr<const Kernel> load(std::span<const std::byte> binary, const std::string&) override {
    if (refuses) return nullptr;
    return std::make_shared<TextKernel>(std::string(reinterpret_cast<const char*>(binary.data()), binary.size()));
  }
  std::shared_ptr<const Kernel> find_ahead(const std::string& text, const std::string&) override {
    return text == ahead ? std::make_shared<TextKernel>(text) : nullptr;
  }
  std::string version = "1";
  std::string ahead;
  std::atomic<int> builds{0};
  std::atomic<bool> holds{false};  // its builds
  bool refuses = false;
};

class KernelCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(::testing::TempDir()) / ("diptych_cache_" + std::to_string(getpid()));
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  // In a process of its own, as it were. Returns how it came about.
  CompileReport compile(const std::string& text, const std::string& entry = "entry") {
    KernelCache cache(compiler_, directory_);
    CompileReport report;
    auto kernel = cache.compile({text, entry}, &report);
    EXPECT_EQ(static_cast<const TextKernel&>(*kernel).text, text);
    return report;
  }
  fs::path only_file() {
    EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), 1);
    return fs::directory_iterator(directory_)->path();
  }

  FakeCompiler compiler_;
  fs::path directory_;
};

TEST_F(KernelCacheTest, WhatWasCompiledAheadOfTime) {
  compiler_.ahead = "text";
  KernelCache cache(compiler_, directory_);
  const auto kernel = cache.find({"text", "entry"});
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(cache.compile({"text", "entry"}, nullptr), kernel);
  EXPECT_EQ(cache.find({"another text", "entry"}), nullptr);
  EXPECT_TRUE(compile("text").is_ahead);
  EXPECT_EQ(compiler_.builds, 0);
  EXPECT_FALSE(fs::exists(directory_));
}

TEST_F(KernelCacheTest, MemoryThenDiskThenCompiler) {
  KernelCache cache(compiler_, directory_);
  EXPECT_EQ(cache.find({"text", "entry"}), nullptr);
  auto kernel = cache.compile({"text", "entry"}, nullptr);
  CompileReport report;
  EXPECT_EQ(cache.compile({"text", "entry"}, &report), kernel);
  EXPECT_TRUE(report.from_memory);
  EXPECT_EQ(cache.find({"text", "entry"}), kernel);
  EXPECT_TRUE(compile("text").from_disk);
  KernelCache other(compiler_, directory_);
  EXPECT_NE(other.find({"text", "entry"}), nullptr);
  EXPECT_EQ(compiler_.builds, 1);
}

TEST_F(KernelCacheTest, WhoAsksFirstIsToldHowAPreparedKernelWasMade) {
  KernelCache cache(compiler_, directory_);
  cache.prepare({"text", "entry"});
  cache.prepare({"text", "entry"});
  EXPECT_EQ(compiler_.builds, 1);
  EXPECT_NE(cache.find({"text", "entry"}), nullptr);
  CompileReport report;
  cache.compile({"text", "entry"}, &report);
  EXPECT_STREQ(report.origin(), "compiler");
  cache.compile({"text", "entry"}, &report);
  EXPECT_STREQ(report.origin(), "memory");
  KernelCache other(compiler_, directory_);
  other.prepare({"text", "entry"});
  other.compile({"text", "entry"}, &report);
  EXPECT_STREQ(report.origin(), "disk");
  EXPECT_THROW(cache.prepare({"wrong", "entry"}), Error);
  EXPECT_THROW(cache.compile({"wrong", "entry"}, nullptr), Error);
}

TEST_F(KernelCacheTest, NobodyPreparesWhatAnotherThreadMakes) {
  KernelCache cache(compiler_, std::nullopt);
  compiler_.holds = true;
  std::thread maker([&] { cache.compile({"text", "entry"}, nullptr); });
  compiler_.builds.wait(0);
  cache.prepare({"text", "entry"});  // returns
  compiler_.holds = false;
  compiler_.holds.notify_all();
  maker.join();
  EXPECT_EQ(compiler_.builds, 1);
}

TEST_F(KernelCacheTest, AStatementThatIsCancelledWaitsForNoCompiler) {
  compiler_.holds = true;
  std::thread releaser;
  {
    KernelCache cache(compiler_, std::nullopt);
    int asked = 0;
    const StopCheck stop([&] {
      if (++asked == 3) throw Error(SqlState::query_canceled, "cancelled");
    });
    EXPECT_THROW(cache.compile({"text", "entry"}, nullptr), Error);  // it makes it
    asked = 0;
    EXPECT_THROW(cache.compile({"text", "entry"}, nullptr), Error);  // that is being made
    EXPECT_EQ(cache.find({"text", "entry"}), nullptr);
    compiler_.holds = false;
    compiler_.holds.notify_all();
    CompileReport report;
    EXPECT_NE(cache.compile({"text", "entry"}, &report), nullptr);
    EXPECT_STREQ(report.origin(), "compiler");
    EXPECT_EQ(compiler_.builds, 1);
    compiler_.holds = true;
    asked = 0;
    EXPECT_THROW(cache.compile({"another text", "entry"}, nullptr), Error);
    releaser = std::thread([&] {
      compiler_.holds = false;
      compiler_.holds.notify_all();
    });
  }  // waits for the other one
  releaser.join();
  EXPECT_EQ(compiler_.builds, 2);
}

TEST_F(KernelCacheTest, AFailureReachesTheStatementThatWaits) {
  KernelCache cache(compiler_, directory_);
  const StopCheck stop([] {});
  for (int i = 0; i < 2; ++i) EXPECT_THROW(cache.compile({"wrong", "entry"}, nullptr), Error);
  EXPECT_NE(cache.compile({"text", "entry"}, nullptr), nullptr);
  EXPECT_EQ(compiler_.builds, 3);
}

TEST_F(KernelCacheTest, ThreadsAreAllToldOfAFailure) {
  KernelCache cache(compiler_, std::nullopt);
  std::atomic<int> told = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      std::optional<StopCheck> stop;
      if (i % 2 == 0) stop.emplace([] {});
      for (int turn = 0; turn < 50; ++turn) {
        try {
          cache.compile({"wrong", "entry"}, nullptr);
        } catch (const Error&) {
          ++told;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(told, 8 * 50);
}

TEST_F(KernelCacheTest, AnotherCompilerOrEntryIsAnotherKernel) {
  compile("text");
  EXPECT_FALSE(compile("text", "other").from_disk);
  compiler_.version = "2";
  EXPECT_FALSE(compile("text").from_disk);
  EXPECT_EQ(compiler_.builds, 3);
}

TEST_F(KernelCacheTest, AnyFlippedByteIsNoticed) {
  compile("some text");
  const fs::path path = only_file();
  const auto bytes = static_cast<int64_t>(fs::file_size(path));
  for (int64_t at = 0; at < bytes; at++) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 0x40));
    file.close();
    EXPECT_FALSE(compile("some text").from_disk) << "byte " << at;
    EXPECT_TRUE(compile("some text").from_disk) << "byte " << at;
  }
}

TEST_F(KernelCacheTest, AnyTruncationIsNoticed) {
  compile("some text");
  const fs::path path = only_file();
  const auto bytes = fs::file_size(path);
  for (uintmax_t length = 0; length < bytes; length++) {
    fs::resize_file(path, length);
    EXPECT_FALSE(compile("some text").from_disk) << length;
  }
  EXPECT_TRUE(compile("some text").from_disk);
}

TEST_F(KernelCacheTest, BinariesThatTheDriverRefusesAreBuiltAgain) {
  compile("text");
  compiler_.refuses = true;
  EXPECT_FALSE(compile("text").from_disk);
}

TEST_F(KernelCacheTest, ADirectoryThatCannotBeWrittenIsNoError) {
  std::ofstream(directory_.string()) << "a file, so that there can be no directory";
  EXPECT_FALSE(compile("text").from_disk);
  EXPECT_FALSE(compile("text").from_disk);
}

TEST_F(KernelCacheTest, AFailureIsNotKept) {
  KernelCache cache(compiler_, directory_);
  EXPECT_THROW(cache.compile({"wrong", "entry"}, nullptr), Error);
  EXPECT_THROW(cache.compile({"wrong", "entry"}, nullptr), Error);
  EXPECT_EQ(cache.find({"wrong", "entry"}), nullptr);
}

TEST_F(KernelCacheTest, ThreadsCompileOnce) {
  KernelCache cache(compiler_, std::nullopt);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++) threads.emplace_back([&] { cache.compile({"text", "entry"}, nullptr); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(compiler_.builds, 1);
}

TEST_F(KernelCacheTest, MemoryIsBounded) {
  KernelCache cache(compiler_, std::nullopt);
  const int many = static_cast<int>(KernelCache::kernels_in_memory) + 10;
  for (int i = 0; i < many; i++) cache.compile({std::to_string(i), "entry"}, nullptr);
  EXPECT_EQ(cache.find({"0", "entry"}), nullptr);
  EXPECT_NE(cache.find({std::to_string(many - 1), "entry"}), nullptr);
}

TEST_F(KernelCacheTest, DiskIsBounded) {
  fs::create_directories(directory_);
  for (int i = 0; i < KernelCache::disk_files + 20; i++)
    std::ofstream(directory_ / (fmt::format("{:032x}.kernel", i) + (i % 2 == 0 ? "" : ".1.2"))) << "old";
  compile("text");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), KernelCache::disk_files);
  EXPECT_TRUE(compile("text").from_disk);
}

TEST_F(KernelCacheTest, WhatIsUsedStays) {
  compile("used");
  compile("not used");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(24);
  for (const auto& file : fs::directory_iterator(directory_)) fs::last_write_time(file.path(), long_ago);
  EXPECT_TRUE(compile("used").from_disk);
  for (int i = 0; i < KernelCache::disk_files - 1; i++)
    std::ofstream(directory_ / fmt::format("{:032x}.kernel", i)) << "another";
  compile("new");
  EXPECT_TRUE(compile("used").from_disk);
  EXPECT_FALSE(compile("not used").from_disk);
}

TEST_F(KernelCacheTest, FilesOfOthersStay) {
  fs::create_directories(directory_);
  for (int i = 0; i < KernelCache::disk_files + 20; i++) std::ofstream(directory_ / std::to_string(i)) << "another's";
  std::ofstream(directory_ / (std::string(32, 'a') + ".db")) << "another's";
  std::ofstream(directory_ / (std::string(33, 'a') + ".kernel")) << "another's";
  compile("text");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), fs::directory_iterator()), KernelCache::disk_files + 23);
}

}  // namespace
}  // namespace diptych::testing
