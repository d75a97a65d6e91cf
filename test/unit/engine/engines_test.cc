// Where sections run: with an OpenCL device that is made out to be a GPU, and a profile that says what it can do.
#include "engine/engines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "engine/device/absent_driver.h"
#include "engine/device/opencl/opencl_device.h"
#include "engine/program_maker.h"

namespace diptych {
namespace {

using testing::AbsentDriver;
using testing::make_table;
using testing::NumberedTablets;
using testing::ProgramMaker;

const Type integer{TypeId::Integer};

// Its devices' memory is not the host's, whatever they are.
class PretendedGpus final : public DeviceDriver {
 public:
  PretendedGpus() : infos_(driver_.infos()) {
    for (DeviceInfo& info : infos_) info.is_host = false;
  }
  const std::string& absent() const override { return driver_.absent(); }
  const std::vector<DeviceInfo>& infos() const override { return infos_; }
  std::unique_ptr<Device> open(int number) override { return driver_.open(number); }

 private:
  opencl::OpenClDriver driver_;
  std::vector<DeviceInfo> infos_;
};

class PlacementTest : public ::testing::Test {
 protected:
  PlacementTest() : path_(std::filesystem::temp_directory_path() / ("diptych-placement-" + std::to_string(getpid()))) {}
  ~PlacementTest() override { std::filesystem::remove(path_); }

  // rate: bytes a second of everything the devices do. host_rate: at which the CPU reads, if it is not the usual one.
  // False: there is no device to pretend with.
  bool open(double rate, double host_rate = 0) {
    auto gpus = std::make_unique<PretendedGpus>();
    MachineCalibration profile;
    if (host_rate > 0) profile.host.read_one = profile.host.read_all = host_rate;
    profile.host.is_measured = host_rate > 0;
    bool any = false;
    for (const DeviceInfo& info : gpus->infos()) {
      DeviceCalibration& device = profile.devices[device_key(info)];
      device.read = device.mapped = device.to_device_pinned = device.to_device_pageable = rate;
      device.to_host_pinned = device.to_host_pageable = rate;
      device.launch_ns = device.compile_ns = 1e15 / rate;
      device.multiply_ns = 1e9 / rate;
      any |= info.unusable.empty();
    }
    write_calibration(path_, profile);
    std::vector<std::unique_ptr<DeviceDriver>> drivers;
    drivers.push_back(std::make_unique<AbsentDriver>());
    drivers.push_back(std::move(gpus));
    engines_ = std::make_unique<Engines>(std::move(drivers), path_);
    return any;
  }

  // SELECT a FROM rows WHERE a < below, of 0 to 999
  void make_program(int64_t rows, int32_t below = 10) {
    std::vector<std::vector<Value>> table;
    for (int64_t i = 0; i < rows; ++i) table.push_back({Value::integer(static_cast<int32_t>(i % 1000))});
    source_ = std::make_shared<NumberedTablets>(make_table({{"a", integer}}, table, 65536));
    ProgramMaker maker(source_);
    maker.parallel(0);
    const int a = maker.column(0), bound = maker.constant(Value::integer(below));
    const int32_t leave = maker.emit(Opcode::Ge, a, bound, 0, jump_if_null);
    maker.result({a});
    maker.land(leave);
    maker.converge();
    program_ = maker.finish();
    while (program_->instructions[static_cast<size_t>(address_)].opcode != Opcode::Parallel) ++address_;
  }

  // SELECT t FROM rows, strings that are in no dictionary.
  void make_program_of_strings() {
    const std::vector<std::vector<Value>> rows(100, {Value::text("a string of its own")});
    source_ = std::make_shared<NumberedTablets>(make_table({{"t", Type{TypeId::Text}}}, rows, 64, false));
    ProgramMaker maker(source_);
    maker.parallel(0);
    maker.result({maker.column(0)});
    maker.converge();
    program_ = maker.finish();
    address_ = 0;
    while (program_->instructions[static_cast<size_t>(address_)].opcode != Opcode::Parallel) ++address_;
  }

  // The CPU takes so long, or what it is expected to (0); a device what it is expected to.
  std::optional<SectionResult> run(PlacementNote& note, SectionPartner* partner = nullptr, int64_t cpu_ns = 0) {
    ExecutionProfile profile;
    ExecutionContext context;
    if (tells_why_) context.profile = &profile;
    const NeededTablets needed(program_->cursors[0], *source_);
    std::unique_ptr<PlacedRun> placed;
    SectionTask task{*program_, address_, source_, -1, context, needed, partner};
    task.placed = &placed;
    auto result = engines_->run(task, choice_, note);
    if (placed == nullptr) return result;
    placed->add_time(address_, result || cpu_ns == 0 ? note.estimate_ns : cpu_ns);
    placed->end();
    return result;
  }

  // Runs until a device takes it, or `reason` is why none does; false after a minute.
  bool run_until(const std::string& reason, std::optional<SectionResult>& result, int64_t cpu_ns = 0) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      PlacementNote note;
      result = run(note, nullptr, cpu_ns);
      if (result || (!reason.empty() && note.why.find(reason) != std::string::npos)) return true;
      std::this_thread::yield();
    }
    return false;
  }

  // Of a program that takes the CPU a second.
  bool stream_until_on_device(std::optional<SectionResult>& result) {
    make_program(400'000);
    choice_.residency = "streamed";
    return run_until("", result, 1'000'000'000);
  }

  const std::filesystem::path path_;
  std::unique_ptr<Engines> engines_;
  std::shared_ptr<const TabletSource> source_;
  std::shared_ptr<const Program> program_;
  int32_t address_ = 0;
  PlacementChoice choice_;
  bool tells_why_ = true;
};

TEST_F(PlacementTest, FewRowsStayOnTheCpu) {
  open(1e15);
  make_program(1000);
  for (int i = 0; i < 1000; ++i) {
    PlacementNote note;
    EXPECT_FALSE(run(note).has_value());
    EXPECT_EQ(note.why, "few rows");
    EXPECT_GT(note.estimate_ns, 0);
    EXPECT_TRUE(note.fallback.empty());
  }
}

TEST_F(PlacementTest, AFastDeviceIsChosen) {
  if (!open(1e15)) GTEST_SKIP() << "no OpenCL device";
  make_program(400'000);
  std::optional<SectionResult> result;
  ASSERT_TRUE(run_until("", result));
  int64_t rows = 0;
  for (const ResultPiece& piece : result->rows) rows += piece.rows.rows;
  EXPECT_EQ(rows, 4000);
  EXPECT_EQ(result->profile.engine.find("opencl:"), 0U) << result->profile.engine;
  EXPECT_GT(result->profile.estimate_nanoseconds, 0);
  EXPECT_NE(result->profile.why.find("CPU"), std::string::npos) << result->profile.why;
  EXPECT_TRUE(engines_->fallbacks().empty());
}

TEST_F(PlacementTest, ASlowDeviceIsNot) {
  if (!open(1e6)) GTEST_SKIP() << "no OpenCL device";
  make_program(400'000);
  std::optional<SectionResult> result;
  ASSERT_TRUE(run_until("once settled", result));
  EXPECT_FALSE(result.has_value());
}

// Takes tablets one by one and only counts their rows.
class Counting final : public SectionPartner {
 public:
  explicit Counting(const TabletSource& source) : source_(source) {}
  void work(TabletQueue& queue) override {
    for (TabletRun run = queue.take(1); !run.is_empty(); run = queue.take(1)) {
      for (size_t tablet = run.first; tablet < run.end; ++tablet) rows += source_.rows_in(tablet);
    }
  }
  void forget() override { rows = 0; }
  int64_t rows = 0;

 private:
  const TabletSource& source_;
};

TEST_F(PlacementTest, AutoSharesWhatComesOverTheBus) {
  if (!open(1e9)) GTEST_SKIP() << "no OpenCL device";
  std::optional<SectionResult> result;
  ASSERT_TRUE(stream_until_on_device(result));
  EXPECT_FALSE(result->is_shared) << "there was no partner";
  for (int i = 0; i < 50; ++i) {
    Counting partner(*source_);
    PlacementNote note;
    result = run(note, &partner);
    ASSERT_TRUE(result.has_value());
    EXPECT_TRUE(result->is_shared);
    EXPECT_EQ(result->profile.rows_in + partner.rows, 400'000);
  }
  choice_.share_tablets = "off";
  PlacementNote note;
  Counting partner(*source_);
  EXPECT_FALSE(run(note, &partner)->is_shared);
  EXPECT_EQ(partner.rows, 0);
}

TEST_F(PlacementTest, AutoDoesNotShareWhatIsShort) {
  if (!open(1e15)) GTEST_SKIP() << "no OpenCL device";
  std::optional<SectionResult> result;
  ASSERT_TRUE(stream_until_on_device(result));
  Counting partner(*source_);
  PlacementNote note;
  result = run(note, &partner);
  ASSERT_TRUE(result.has_value());
  EXPECT_FALSE(result->is_shared);
}

// What the CPU was done with at once is asked of no device, however fast.
TEST_F(PlacementTest, WhatIsShortOnTheCpuStaysThere) {
  if (!open(1e15)) GTEST_SKIP() << "no OpenCL device";
  make_program(400'000);
  std::optional<SectionResult> result;
  ASSERT_TRUE(run_until("short on the CPU", result, 1000));
  EXPECT_FALSE(result.has_value());
}

// Fails when it has taken some tablets.
class Failing final : public SectionPartner {
 public:
  explicit Failing(SqlState state) : state_(state) {}
  void work(TabletQueue& queue) override {
    queue.take(1);
    throw Error(state_, "failed on purpose");
  }
  void forget() override { forgotten = true; }
  bool forgotten = false;

 private:
  const SqlState state_;
};

// The section is run again, by the CPU alone: what it had made must not count twice. Errors of rows are the
// statement's.
TEST_F(PlacementTest, WhatAFailedPartnerMadeIsForgotten) {
  if (!open(1e9)) GTEST_SKIP() << "no OpenCL device";
  std::optional<SectionResult> result;
  ASSERT_TRUE(stream_until_on_device(result));
  Failing without_memory(SqlState::out_of_memory), dividing(SqlState::division_by_zero);
  PlacementNote note;
  EXPECT_FALSE(run(note, &without_memory).has_value());
  EXPECT_TRUE(without_memory.forgotten);
  EXPECT_EQ(note.fallback, "failed on purpose");
  // `auto` does not ask a way again that has failed.
  choice_.device = "opencl";
  choice_.share_tablets = "on";
  EXPECT_THROW(run(note, &dividing), Error);
  EXPECT_TRUE(dividing.forgotten);
}

// Decisions that are kept for the runs of a text end with a run that does not go as it was placed.
TEST_F(PlacementTest, AKeptDecisionThatFailsServesNoMore) {
  if (!open(1e9)) GTEST_SKIP() << "no OpenCL device";
  std::optional<SectionResult> result;
  ASSERT_TRUE(stream_until_on_device(result));
  const auto program = std::make_shared<Program>(*program_);
  program->text_number = 1;
  program_ = program;
  tells_why_ = false;
  PlacementNote note;
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(run(note).has_value()) << i;
  Failing without_memory(SqlState::out_of_memory);
  EXPECT_FALSE(run(note, &without_memory).has_value());
  EXPECT_EQ(note.fallback, "failed on purpose");
  note = {};
  EXPECT_FALSE(run(note).has_value()) << "rests";
  EXPECT_EQ(note.fallback, "") << "and was not tried";
}

// The CPU's times are learnt, and a device that was estimated slower than they are gets the section.
TEST_F(PlacementTest, MeasuredTimesReplaceEstimates) {
  if (!open(5e10)) GTEST_SKIP() << "no OpenCL device";
  make_program(400'000);
  std::optional<SectionResult> result;
  EXPECT_TRUE(run_until("", result, 1'000'000'000));
  EXPECT_TRUE(result.has_value());
}

// Rows that come over the bus while columns are read are expected to take less time, but pinned memory takes long to
// fill: until that pays, columns that are on the device are read there, and not by the CPU, which takes a minute.
TEST_F(PlacementTest, WhatIsInPlaceServesWhileABetterWayIsSavedFor) {
  if (!open(1e10, 1e3)) GTEST_SKIP() << "no OpenCL device";
  make_program(400'000, 1000);
  constexpr int64_t minute_ns = 60'000'000'000;
  choice_.residency = "cached";
  std::optional<SectionResult> result;
  ASSERT_TRUE(run_until("", result, minute_ns));
  choice_.residency = "auto";
  // So few that what the device takes does not count yet: it may be faster than it is made out to be.
  for (int i = 0; i < 2; ++i) {
    PlacementNote note;
    result = run(note);
    ASSERT_TRUE(result.has_value()) << i << ": " << note.why;
    EXPECT_EQ(result->profile.residency, "cached") << i;
  }
  EXPECT_NE(result->profile.why.find("in place: cached"), std::string::npos) << result->profile.why;
}

TEST_F(PlacementTest, WhatWasAskedFor) {
  if (!open(1e6)) GTEST_SKIP() << "no OpenCL device";
  make_program(1000);
  choice_.device = "cpu";
  PlacementNote note;
  EXPECT_FALSE(run(note).has_value());
  EXPECT_EQ(note.why, "asked for");
  choice_.device = "opencl";
  for (const char* residency : {"auto", "serial"}) {
    choice_.residency = residency;
    const auto result = run(note);
    ASSERT_TRUE(result.has_value()) << residency << ": " << note.fallback;
    if (choice_.residency != "auto") {
      EXPECT_EQ(result->profile.residency, residency);
    }
  }
  choice_.device = "cuda";
  EXPECT_ANY_THROW(run(note));
}

// The interpreter that was asked for is not replaced by anything else on the device.
TEST_F(PlacementTest, WhatTheInterpreterRefusesRunsOnTheCpu) {
  if (!open(1e6)) GTEST_SKIP() << "no OpenCL device";
  make_program_of_strings();
  choice_.device = "opencl";
  choice_.gpu_engine = "interpreter";
  PlacementNote note;
  EXPECT_FALSE(run(note).has_value());
  EXPECT_NE(note.fallback.find("interpreter"), std::string::npos) << note.fallback;
  EXPECT_EQ(engines_->fallbacks(), (std::map<std::string, int64_t>{{note.fallback, 1}}));
  choice_.fallback = "error";
  EXPECT_ANY_THROW(run(note));
}

TEST_F(PlacementTest, TheKernelsText) {
  open(1e6);
  make_program(1000);
  const gpu::SectionKernel kernel = Engines::kernel_of(*program_, address_, *source_);
  EXPECT_TRUE(kernel.source.text().substr(kernel.library_bytes).starts_with("DK_KERNEL void")) << kernel.source.text();
}

}  // namespace
}  // namespace diptych
