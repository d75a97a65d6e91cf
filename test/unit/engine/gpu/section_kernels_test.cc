// Which kernel runs a section, on a device that compiles nothing but remembers what it was asked to compile.
#include "engine/gpu/section_kernels.h"

#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "base/error.h"
#include "engine/gpu/input/source_shape.h"
#include "engine/gpu/interpreter/interpreter_text.h"
#include "engine/program_maker.h"

namespace diptych::gpu {
namespace {

using diptych::testing::make_table;
using diptych::testing::ProgramMaker;

class NoKernel final : public Kernel {
 public:
  int groups_per_unit(int, int64_t) const override { return 1; }
};

class RememberingDevice final : public Device {
 public:
  const DeviceInfo& info() const override { return info_; }
  std::optional<DeviceBuffer> try_allocate(int64_t, uint64_t) override { return std::nullopt; }
  PinnedBuffer allocate_pinned(int64_t, const char*) override { return {}; }
  void set_memory_limit(int64_t) override {}
  int64_t memory_limit() const override { return 0; }
  DeviceMemoryUse memory_use() const override { return {}; }
  std::unique_ptr<Queue> make_queue() override { return nullptr; }
  std::shared_ptr<const Kernel> compile(const KernelText& kernel, CompileReport*) override {
    std::lock_guard lock(mutex_);
    if (fails) throw Error(SqlState::system_error, "does not compile");
    compiled_.insert(kernel.hash());
    return std::make_shared<NoKernel>();
  }
  std::shared_ptr<const Kernel> find_compiled(const KernelText& kernel) override {
    std::lock_guard lock(mutex_);
    return compiled_.contains(kernel.hash()) ? std::make_shared<NoKernel>() : nullptr;
  }

  bool has(const KernelText& kernel) { return find_compiled(kernel) != nullptr; }
  void be_host() { info_.is_host = true; }
  std::atomic<bool> fails = false;

 private:
  std::optional<uint64_t> reserve(int64_t) override { return std::nullopt; }
  void release(uint64_t) noexcept override {}
  void free(DeviceAddress, int64_t) noexcept override {}
  void free_pinned(std::byte*, int64_t) noexcept override {}
  void shrink_pinned(std::byte*, int64_t) noexcept override {}

  DeviceInfo info_;
  std::mutex mutex_;
  std::set<KernelText::Hash> compiled_;
};

// A section with what choose() wants to know of it.
struct Section {
  std::shared_ptr<const Program> program;
  int32_t address = 0;
  SectionShape shape;

  explicit Section(std::shared_ptr<const Program> of) : program(std::move(of)) {
    while (program->instructions[static_cast<size_t>(address)].opcode != Opcode::Parallel) ++address;
    shape = find_source_shape(*program, address, *program->sources[0]);
  }
};

// SELECT a FROM rows WHERE a `comparison` 10
Section numbers(Opcode comparison) {
  const std::vector<std::vector<Value>> rows(100, {Value::integer(7)});
  ProgramMaker maker(make_table({{"a", Type{TypeId::Integer}}}, rows, 64));
  maker.parallel(0);
  const int a = maker.column(0), bound = maker.constant(Value::integer(10));
  const int32_t leave = maker.emit(comparison, a, bound, 0, jump_if_null);
  maker.result({a});
  maker.land(leave);
  maker.converge();
  return Section(maker.finish());
}

// SELECT t FROM rows, which the interpreter does not do: the strings are in no dictionary.
Section strings() {
  const std::vector<std::vector<Value>> rows(100, {Value::text("a string of its own")});
  ProgramMaker maker(make_table({{"t", Type{TypeId::Text}}}, rows, 64, false));
  maker.parallel(0);
  maker.result({maker.column(0)});
  maker.converge();
  return Section(maker.finish());
}

class SectionKernelsTest : public ::testing::Test {
 protected:
  SectionKernel choose(const Section& section, KernelChoice choice = KernelChoice::Auto) {
    return *kernels_.choose(*section.program, section.address, section.shape, choice);
  }
  SectionKernels::Outlook look(const Section& section, KernelChoice choice = KernelChoice::Auto) {
    return SectionKernels::look(device_, *section.program, section.address, section.shape, choice);
  }

  RememberingDevice device_;
  SectionKernels kernels_{device_};
};

TEST_F(SectionKernelsTest, TheInterpreterServesWhileAThreadCompiles) {
  compile_interpreter(device_);
  for (const Opcode comparison : {Opcode::Ge, Opcode::Lt}) {
    const Section section = numbers(comparison);
    EXPECT_TRUE(look(section).is_ready);
    EXPECT_FALSE(look(section, KernelChoice::Generated).is_ready);
    EXPECT_TRUE(choose(section).is_interpreted());
    kernels_.compiler().wait();
    EXPECT_TRUE(look(section, KernelChoice::Generated).is_ready);
    const SectionKernel later = choose(section);
    EXPECT_FALSE(later.is_interpreted());
    EXPECT_TRUE(device_.has(later.source));
  }
}

TEST_F(SectionKernelsTest, TheInterpreterGoesOnWhereTheKernelDoesNotCompile) {
  compile_interpreter(device_);
  device_.fails = true;
  const Section section = numbers(Opcode::Ge);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(choose(section).is_interpreted());
    kernels_.compiler().wait();
  }
  EXPECT_EQ(kernels_.compiler().take_failures().size(), 1U);
}

// The statement has its kernel compiled itself; no thread is asked for it.
TEST_F(SectionKernelsTest, WhatTheInterpreterRefusesWaitsForTheCompiler) {
  compile_interpreter(device_);
  const Section section = strings();
  EXPECT_FALSE(look(section).is_ready);
  EXPECT_TRUE(look(section).unsupported.empty());
  for (int run = 0; run < 10; ++run) {
    const SectionKernel kernel = choose(section);
    EXPECT_FALSE(kernel.is_interpreted());
    EXPECT_TRUE(kernel.unsupported.empty());
    kernels_.compiler().wait();
    EXPECT_FALSE(device_.has(kernel.source));
  }
  EXPECT_FALSE(look(section, KernelChoice::Interpreter).unsupported.empty());
  EXPECT_FALSE(choose(section, KernelChoice::Interpreter).unsupported.empty());
}

// As on OpenCL GPUs: sections wait for their own kernels, until there were so many that it is worth it.
TEST_F(SectionKernelsTest, AnInterpreterThatIsNotThereIsAskedForInTime) {
  const Section section = numbers(Opcode::Ge);
  int waits = 0;
  for (; waits < 100 && !choose(section).is_interpreted(); ++waits) {
    // Unless a thread has compiled the interpreter meanwhile.
    const SectionKernel other = choose(numbers(Opcode::Lt));
    EXPECT_EQ(device_.has(other.source), other.is_interpreted());
    kernels_.compiler().wait();
  }
  EXPECT_GT(waits, 1);
  EXPECT_LT(waits, 100);
  EXPECT_TRUE(device_.has(interpreter_text(false)));
}

TEST_F(SectionKernelsTest, NothingIsCompiledInTheBackgroundOfTheHostItself) {
  device_.be_host();
  compile_interpreter(device_);
  const Section section = numbers(Opcode::Ge);
  EXPECT_FALSE(look(section).is_ready);
  EXPECT_FALSE(choose(section).is_interpreted());
  kernels_.compiler().wait();
  EXPECT_FALSE(device_.has(choose(section).source));
  EXPECT_TRUE(choose(section, KernelChoice::Interpreter).is_interpreted());
}

}  // namespace
}  // namespace diptych::gpu
