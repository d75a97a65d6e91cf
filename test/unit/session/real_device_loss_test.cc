// An illegal address on a real GPU, which ends a process's use of it: so each test runs in a process of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <thread>

#include "engine/device/device_testing.h"
#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::device_text;
using testing::make_table;
using testing::run;

const std::string query = "SELECT k, count(*), sum(l), min(i) FROM t GROUP BY k";
const std::string rows_query = "SELECT i, h FROM t WHERE k = 3";

// An address that no device has memory at.
constexpr uint64_t bad_address = uint64_t{1} << 46;

std::string bad_text(DeviceApi api) {
  return device_text(api, 1) +
         "KERNEL void bad(GLOBAL unsigned char* memory, GLOBAL unsigned char* mapped, const dk_parameters parameters) "
         "{ *AT(u64, parameters.word[0] + ID * 4096) = 1; }\n";
}

// The child process of a test: what is wrong goes to its exit status.
class Child {
 public:
  Child(const char* api, const char* residency) : api_(api), connection_(database_) {
    run(connection_, "SET tablet_rows = 64");
    run(connection_, "SET device_memory_limit = '1GB'");  // other tests may use the device at the same time
    run(connection_, make_table);
    run(connection_, std::string("SET residency = ") + residency);
    run(connection_, "SET gpu_engine = generated");
    for (const std::string& text : {query, rows_query}) expected_.push_back(answer(connection_, "cpu", text));
    is_right(connection_);
    expect(fallbacks() == 0, "the device runs the queries before it is lost");
  }

  Device& device() { return *database_.engines().devices().find(api_); }
  // The fault is there, and nobody has waited for it.
  void launch_bad_kernel() {
    bad_device_ = &device();
    bad_ = device().compile({bad_text(device().info().api), "bad"});
    queue_ = device().make_queue();
    const uint64_t words[] = {bad_address};
    queue_->launch(*bad_, 64, 64, words);
  }
  bool knows_loss() { return bad_device_->health().is_lost(); }
  void wait_for_it() {
    try {
      queue_->synchronize();
      expect(false, "waiting for the bad kernel fails");
    } catch (const Error& error) {
      std::cerr << "the driver says: " << error.message() << '\n';
    }
  }
  void is_right(Connection& connection) {
    expect(answer(connection, api_, query) == expected_[0], "groups are the CPU's");
    expect(answer(connection, api_, rows_query) == expected_[1], "rows are the CPU's");
  }
  void is_lost() {
    bool is_shown = false;
    for (const std::string& line : run(connection_, "SHOW devices"))
      is_shown |= line.starts_with(std::string(api_) + ":0|") && line.find("lost: ") != std::string::npos;
    expect(is_shown, "SHOW devices says that it is lost");
    const int64_t before = fallbacks();
    is_right(connection_);
    expect(fallbacks() == before + 2, "both statements are counted");
  }
  // Another database of the process, opened afterwards, knows it from the start.
  void is_lost_elsewhere() {
    Database other(":memory:");
    Connection connection(other);
    run(connection, "SET tablet_rows = 64");
    run(connection, make_table);
    is_right(connection);
    expect(other.engines().fallbacks().size() == 1, "the other database falls back, too");
  }
  void others_work() {
    for (const DeviceInfo& info : database_.engines().devices().infos()) {
      if (!info.unusable.empty() || info.id() == std::string(api_) + ":0") continue;
      if (!info.id().starts_with(api_)) continue;
      const int64_t before = fallbacks();
      expect(answer(connection_, info.id(), query) == expected_[0], "another device gives the CPU's groups");
      expect(fallbacks() == before, "another device works");
      std::cerr << info.id() << " works\n";
    }
  }
  Database& database() { return database_; }
  static void expect(bool holds, const char* what) {
    if (holds) return;
    std::cerr << "wrong: " << what << '\n';
    is_wrong = true;
  }
  static inline std::atomic<bool> is_wrong{false};

 private:
  static std::vector<std::string> answer(Connection& connection, const std::string& device, const std::string& text) {
    run(connection, "SET device = '" + device + "'");
    std::vector<std::string> lines = run(connection, text);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  int64_t fallbacks() {
    int64_t all = 0;
    for (const auto& [reason, count] : database_.engines().fallbacks()) all += count;
    return all;
  }

  const char* api_;
  Database database_{":memory:"};
  Connection connection_;
  std::vector<std::vector<std::string>> expected_;
  Device* bad_device_ = nullptr;
  std::shared_ptr<const Kernel> bad_;
  std::unique_ptr<Queue> queue_;
};

[[noreturn]] void finish() {
  std::cerr << (Child::is_wrong ? "FAILED\n" : "everything as it should be\n");
  std::exit(Child::is_wrong ? 1 : 0);
}

void lose_between_statements(const char* api, const char* residency) {
  {
    Child child(api, residency);
    child.launch_bad_kernel();
    child.wait_for_it();
    child.is_lost();
    child.others_work();
    child.is_lost_elsewhere();
  }
  finish();
}

// The statement's own calls meet the error.
void lose_under_a_statement(const char* api, const char* residency) {
  {
    Child child(api, residency);
    child.launch_bad_kernel();
    Connection connection(child.database());
    run(connection, std::string("SET residency = ") + residency);
    constexpr int most_rounds = 1000;  // the fault comes a little later than the launch
    for (int i = 0; i < most_rounds && !child.knows_loss(); ++i) child.is_right(connection);
    child.is_lost();
  }
  finish();
}

void lose_among_threads(const char* api, const char* residency) {
  {
    Child child(api, residency);
    std::vector<std::jthread> threads;
    std::atomic<int> rounds{0};
    for (int number = 0; number < 3; ++number)
      threads.emplace_back([&] {
        Connection connection(child.database());
        run(connection, std::string("SET residency = ") + residency);
        for (int i = 0; i < 40; ++i, ++rounds) child.is_right(connection);
      });
    while (rounds < 20) std::this_thread::yield();
    child.launch_bad_kernel();
    threads.clear();
    child.is_lost();
  }
  finish();
}

// The parameter: an API and a residency.
class RealDeviceLoss : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    DeviceList devices;
    std::string why = std::string("no ") + api() + " device";
    for (const DeviceInfo& info : devices.infos()) {
      if (info.id() != std::string(api()) + ":0") continue;
      why = info.unusable;
      if (info.is_host) why = "an illegal address on the host's own cores ends the process";
      if (!info.can_map && residency() == std::string("mapped")) why = "its kernels can't read the host's memory";
    }
    if (why.empty()) return;
    std::cerr << why << '\n';  // the child process of a test shows nothing else
    GTEST_SKIP() << why;
  }
  const char* api() const { return std::get<0>(GetParam()); }
  const char* residency() const { return std::get<1>(GetParam()); }
};

TEST_P(RealDeviceLoss, BetweenStatements) {
  EXPECT_EXIT(lose_between_statements(api(), residency()), ::testing::ExitedWithCode(0), "everything as it should be");
}
TEST_P(RealDeviceLoss, UnderAStatement) {
  EXPECT_EXIT(lose_under_a_statement(api(), residency()), ::testing::ExitedWithCode(0), "everything as it should be");
}
TEST_P(RealDeviceLoss, AmongThreads) {
  EXPECT_EXIT(lose_among_threads(api(), residency()), ::testing::ExitedWithCode(0), "everything as it should be");
}

INSTANTIATE_TEST_SUITE_P(Devices, RealDeviceLoss,
                         ::testing::Combine(::testing::Values("cuda", "opencl"),
                                            ::testing::Values("serial", "streamed", "mapped", "cached")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace diptych
