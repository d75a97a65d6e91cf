// One body of tests for every device there is: nothing here knows which API it runs on.
#include "engine/device/device.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>

#include "base/error.h"
#include "engine/device/device_testing.h"
#include "engine/gpu/interpreter/interpreter_text.h"

namespace diptych::testing {
namespace {

class DeviceTest : public EachDevice {
 protected:
  // words[3][i] = words[1][i] + words[2][i] for i < words[0]
  std::shared_ptr<const Kernel> add_kernel(const std::string& remark = {}, CompileReport* report = nullptr) {
    return device_->compile({"// " + remark + "\n" + device_text(device_->info().api, 4) + R"(
KERNEL void add(GLOBAL unsigned char* memory, GLOBAL unsigned char* mapped, const dk_parameters p) {
  u64 i = ID;
  if (i < p.word[0]) AT(u64, p.word[3])[i] = AT(u64, p.word[1])[i] + AT(u64, p.word[2])[i];
}
)",
                             "add"},
                            report);
  }

  void add(Queue& queue, const Kernel& kernel, DeviceAddress a, DeviceAddress b, DeviceAddress sum, size_t count) {
    const uint64_t parameters[] = {count, a.value, b.value, sum.value};
    queue.launch(kernel, static_cast<int64_t>((count + 255) / 256), 256, parameters);
  }
};

std::vector<uint64_t> sequence(size_t count, uint64_t first) {
  std::vector<uint64_t> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST_P(DeviceTest, AddsVectors) {
  auto kernel = add_kernel();
  for (size_t count : {1, 31, 32, 33, 255, 256, 257, 100000}) {
    const auto bytes = static_cast<int64_t>(count * 8);
    DeviceBuffer a = device_->allocate(bytes, "a"), b = device_->allocate(bytes, "b"),
                 c = device_->allocate(bytes, "c");
    EXPECT_EQ(a.address().value % 256, 0u);
    EXPECT_NE(a.address().value, 0u);
    auto left = sequence(count, 7), right = sequence(count, uint64_t{1} << 40);
    std::vector<uint64_t> sum(count);
    queue_->copy_to_device(a.address(), left.data(), bytes);
    queue_->copy_to_device(b.address(), right.data(), bytes);
    add(*queue_, *kernel, a.address(), b.address(), c.address(), count);
    queue_->copy_to_host(sum.data(), c.address(), bytes);
    queue_->synchronize();
    for (size_t i = 0; i < count; i++) ASSERT_EQ(sum[i], left[i] + right[i]) << i << " of " << count;
  }
}

TEST_P(DeviceTest, CopiesAndFillsAnyPart) {
  std::mt19937 random(std::random_device{}());
  const auto seed = random();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random.seed(seed);
  std::vector<uint8_t> expected(5000);
  for (auto& byte : expected) byte = static_cast<uint8_t>(random());
  DeviceBuffer buffer = device_->allocate(5000, "bytes");
  queue_->copy_to_device(buffer.address(), expected.data(), 5000);
  for (int i = 0; i < 50; i++) {
    const auto from = static_cast<size_t>(random() % 5000);
    const auto bytes = static_cast<size_t>(random() % (5001 - from));
    const auto value = static_cast<uint8_t>(random());
    std::memset(expected.data() + from, value, bytes);
    queue_->fill(buffer.address() + static_cast<int64_t>(from), value, static_cast<int64_t>(bytes));
    const auto to = static_cast<size_t>(random() % 5000);
    const std::vector<uint8_t> piece(random() % (5001 - to), static_cast<uint8_t>(i));
    std::copy(piece.begin(), piece.end(), expected.begin() + static_cast<std::ptrdiff_t>(to));
    queue_->copy_to_device(buffer.address() + static_cast<int64_t>(to), piece.data(),
                           static_cast<int64_t>(piece.size()));
    queue_->synchronize();
  }
  std::vector<uint8_t> found(5000);
  queue_->copy_to_host(found.data(), buffer.address(), 5000);
  queue_->synchronize();
  EXPECT_EQ(found, expected);
}

TEST_P(DeviceTest, CopiesLinesThatLieApart) {
  constexpr int64_t bytes = 10'000;
  std::vector<uint8_t> all(bytes);
  std::iota(all.begin(), all.end(), uint8_t{0});
  const DeviceBuffer buffer = device_->allocate(bytes, "lines");
  queue_->copy_to_device(buffer.address(), all.data(), bytes);
  const PinnedBuffer host = device_->allocate_pinned(bytes, "lines");
  const Queue::Lines lines{.count = 3, .bytes = 777, .to_pitch = 1024, .from_pitch = 2560};
  WorkReport report;
  queue_->report_to(&report);
  queue_->copy_lines_to_host(host.data(), buffer.address() + 5, lines);
  queue_->synchronize();
  queue_->report_to(nullptr);
  EXPECT_EQ(report.work.bytes_to_host, 3 * 777);
  EXPECT_EQ(report.work.waits, 1);
  for (int64_t line = 0; line < lines.count; ++line)
    EXPECT_EQ(std::memcmp(host.data() + line * lines.to_pitch, all.data() + 5 + line * lines.from_pitch, 777), 0);
}

TEST_P(DeviceTest, WorkIsCountedWhereItIsReported) {
  auto kernel = add_kernel();
  const std::vector<uint64_t> values(100, 7);
  const DeviceBuffer buffer = device_->allocate(800, "values");
  const auto work = [&] {
    queue_->copy_to_device(buffer.address(), values.data(), 800);
    for (const size_t count : {100, 0})
      add(*queue_, *kernel, buffer.address(), buffer.address(), buffer.address(), count);
    queue_->count_in_place(30, 4);
    std::vector<uint64_t> back(50);
    queue_->copy_to_host(back.data(), buffer.address(), 400);
    queue_->synchronize();
  };
  PartClock clock(TimePart::Prepare);
  WorkReport report{{}, &clock};
  queue_->report_to(&report);
  work();
  work();
  queue_->report_to(nullptr);
  work();
  EXPECT_EQ(report.work.bytes_to_device, 1600);
  EXPECT_EQ(report.work.bytes_to_host, 800);
  EXPECT_EQ(report.work.bytes_read_in_place, 60);
  EXPECT_EQ(report.work.bytes_written_in_place, 8);
  EXPECT_EQ(report.work.launches, 2) << "of no groups there is none";
  EXPECT_EQ(report.work.waits, 2);
  EXPECT_GT(report.work.wait_nanoseconds, 0);
  EXPECT_GE(clock.times()[TimePart::Wait], report.work.wait_nanoseconds);
  EXPECT_GT(clock.times()[TimePart::Copy], 0);
}

TEST_P(DeviceTest, EventsOfAQueueAreTimed) {
  auto kernel = add_kernel();
  const size_t count = 10000;
  const auto bytes = static_cast<int64_t>(count * 8);
  DeviceBuffer buffer = device_->allocate(bytes, "values");
  PinnedBuffer host = device_->allocate_pinned(bytes, "values");
  const auto values = sequence(count, 0);
  std::memcpy(host.data(), values.data(), static_cast<size_t>(bytes));
  auto before = queue_->record();
  queue_->copy_to_device(buffer.address(), host.data(), bytes);
  add(*queue_, *kernel, buffer.address(), buffer.address(), buffer.address(), count);
  queue_->copy_to_host(host.data(), buffer.address(), bytes);
  auto after = queue_->record();
  queue_->synchronize();
  EXPECT_GE(queue_->nanoseconds_between(*before, *after), 0);
  std::vector<uint64_t> found(count);
  std::memcpy(found.data(), host.data(), static_cast<size_t>(bytes));
  for (size_t i = 0; i < count; i++) ASSERT_EQ(found[i], 2 * i);
}

TEST_P(DeviceTest, AWatchedWaitEndsWithItsEvent) {
  auto kernel = add_kernel();
  DeviceBuffer buffer = device_->allocate(80000, "values");
  queue_->fill(buffer.address(), 1, buffer.bytes());
  add(*queue_, *kernel, buffer.address(), buffer.address(), buffer.address(), 10000);
  const auto after = queue_->record();
  queue_->synchronize_watching(*after, [] {});
  EXPECT_TRUE(queue_->has_happened(*after));
}

// Each round's sum is of what the other queue wrote in the same round, though nothing on the host waits in between.
TEST_P(DeviceTest, AQueueWaitsForAPlaceInAnother) {
  auto kernel = add_kernel();
  const auto other = device_->make_queue();
  const size_t count = 100'000;
  const auto bytes = static_cast<int64_t>(count * 8);
  const DeviceBuffer source = device_->allocate(bytes, "source"), sum = device_->allocate(bytes, "sum");
  const PinnedBuffer host = device_->allocate_pinned(bytes, "sum");
  for (uint64_t round = 1; round <= 20; ++round) {
    for (uint8_t value = 0; value < 3; ++value)
      queue_->fill(source.address(), static_cast<uint8_t>(round + value), bytes);
    const auto is_filled = queue_->record();
    other->wait_for(*is_filled);
    add(*other, *kernel, source.address(), source.address(), sum.address(), count);
    other->copy_to_host(host.data(), sum.address(), bytes);
    queue_->wait_for(*other->record());  // the next round's fills
    queue_->fill(source.address(), 0, bytes);
    other->synchronize();
    const uint64_t expected = (round + 2) * 0x0101'0101'0101'0101ULL * 2;
    for (size_t i = 0; i < count; ++i) {
      uint64_t found = 0;
      std::memcpy(&found, host.data() + i * 8, 8);
      ASSERT_EQ(found, expected) << i << " in round " << round;
    }
  }
  queue_->synchronize();
}

TEST_P(DeviceTest, ThreadsShareAKernel) {
  auto kernel = add_kernel();
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < wrong.size(); t++)
    threads.emplace_back([&, t] {
      auto queue = device_->make_queue();
      for (uint64_t round = 0; round < 20; round++) {
        const auto values = sequence(500, t * 1000000 + round);
        DeviceBuffer buffer = device_->allocate(4000, "values");
        queue->copy_to_device(buffer.address(), values.data(), 4000);
        add(*queue, *kernel, buffer.address(), buffer.address(), buffer.address(), 500);
        std::vector<uint64_t> found(500);
        queue->copy_to_host(found.data(), buffer.address(), 4000);
        queue->synchronize();
        for (size_t i = 0; i < 500; i++) wrong[t] += found[i] != 2 * values[i];
      }
    });
  for (auto& thread : threads) thread.join();
  for (int count : wrong) EXPECT_EQ(count, 0);
}

TEST_P(DeviceTest, KernelsReadAndWritePinnedMemoryInPlace) {
  if (!device_->info().can_map) GTEST_SKIP() << "kernels of this device can't see pinned memory";
  auto kernel = add_kernel();
  PinnedBuffer first = device_->allocate_pinned(100, "other");
  PinnedBuffer pinned = device_->allocate_pinned(8000, "values");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(pinned.data()) % 4096, 0u);
  auto values = sequence(1000, 5);
  std::memcpy(pinned.data(), values.data(), 8000);
  add(*queue_, *kernel, pinned.address(), pinned.address(), pinned.address(), 1000);
  queue_->synchronize();
  std::vector<uint64_t> found(1000);
  std::memcpy(found.data(), pinned.data(), 8000);
  for (size_t i = 0; i < 1000; i++) ASSERT_EQ(found[i], 2 * values[i]);
}

TEST_P(DeviceTest, KeepsTheMemoryLimit) {
  device_->set_memory_limit(1 << 20);
  {
    DeviceBuffer half = device_->allocate(1 << 19, "half");
    EXPECT_FALSE(device_->try_allocate((1 << 19) + 1, 0).has_value());
    EXPECT_TRUE(device_->try_allocate(1 << 19, 0).has_value());
    try {
      DeviceBuffer all = device_->allocate(1 << 20, "hash table");
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::out_of_memory);
      EXPECT_NE(error.message().find("hash table"), std::string::npos);
      EXPECT_NE(error.message().find(device_->info().id()), std::string::npos);
    }
    EXPECT_EQ(device_->memory_use().used_bytes, 1 << 19);
  }
  EXPECT_EQ(device_->memory_use().used_bytes, 0);
  EXPECT_EQ(device_->memory_use().peak_bytes, 1 << 20);
  device_->set_memory_limit(-1);
  EXPECT_GT(device_->memory_limit(), 1 << 20);
}

TEST_P(DeviceTest, AHigherLimitHoldsOnceNothingIsInUse) {
  device_->set_memory_limit(1 << 20);
  {
    DeviceBuffer buffer = device_->allocate(1 << 19, "half");
    device_->set_memory_limit(1 << 22);
  }
  EXPECT_TRUE(device_->try_allocate(1 << 21, 0).has_value());
  device_->set_memory_limit(1 << 20);
  EXPECT_FALSE(device_->try_allocate(1 << 21, 0).has_value());
  EXPECT_TRUE(device_->try_allocate(1 << 19, 0).has_value());
  device_->set_memory_limit(-1);
}

TEST_P(DeviceTest, ACompilersLogIsInTheError) {
  try {
    device_->compile({device_text(device_->info().api, 1) +
                          "KERNEL void wrong(GLOBAL unsigned char* memory, GLOBAL unsigned char* mapped, const "
                          "dk_parameters p) { no_such_name = 1; }\n",
                      "wrong"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::system_error);
    EXPECT_NE(error.message().find("no_such_name"), std::string::npos) << error.message();
  }
}

TEST_P(DeviceTest, CompilesOnce) {
  CompileReport report;
  auto first = add_kernel("compiled once", &report);
  EXPECT_FALSE(report.from_memory);
  auto second = add_kernel("compiled once", &report);
  EXPECT_TRUE(report.from_memory);
  EXPECT_EQ(first, second);
  EXPECT_EQ(device_->find_compiled({"never compiled", "add"}), nullptr);
  EXPECT_GE(first->groups_per_unit(256), 1);
}

TEST_P(DeviceTest, DatabasesShareKernels) {
  const auto kernel = add_kernel("of two databases");
  DeviceList list;
  Device* other = list.find(GetParam());
  ASSERT_NE(other, device_);
  std::swap(device_, other);
  CompileReport report;
  EXPECT_EQ(add_kernel("of two databases", &report), kernel);
  EXPECT_TRUE(report.from_memory);
  std::swap(device_, other);
}

TEST_P(DeviceTest, PoclNeedsNoMoreDeclarationsThanOurs) {
  if (!device_->info().driver.starts_with("Portable Computing Language")) GTEST_SKIP() << "for PoCL";
  const KernelText& interpreter = gpu::interpreter_text(true);
  EXPECT_NO_THROW(device_->compile({"#ifndef DK_DECLARE\n#error\n#endif\n" + interpreter.text(), interpreter.entry()}));
}

TEST_P(DeviceTest, KernelsComeBackFromDisk) {
  if (device_->info().driver.starts_with("Portable Computing Language")) GTEST_SKIP() << "PoCL keeps kernels itself";
  const std::string directory = ::testing::TempDir() + "diptych_kernels_" + std::to_string(getpid());
  setenv("DIPTYCH_KERNEL_CACHE", directory.c_str(), 1);
  CompileReport report;
  for (bool from_disk : {false, true}) {
    DeviceList list;
    device_ = list.find(GetParam());
    queue_ = device_->make_queue();
    auto kernel = add_kernel("for the disk", &report);
    EXPECT_EQ(report.from_disk, from_disk);
    DeviceBuffer buffer = device_->allocate(80, "values");
    auto values = sequence(10, 1);
    queue_->copy_to_device(buffer.address(), values.data(), 80);
    add(*queue_, *kernel, buffer.address(), buffer.address(), buffer.address(), 10);
    queue_->copy_to_host(values.data(), buffer.address(), 80);
    queue_->synchronize();
    EXPECT_EQ(values[9], 20u);
    queue_.reset();
  }
  std::filesystem::remove_all(directory);
}

INSTANTIATE_TEST_SUITE_P(Devices, DeviceTest, ::testing::Values("cuda", "opencl"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych::testing
