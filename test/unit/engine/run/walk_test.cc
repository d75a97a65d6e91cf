// What the walk tells those who have placed a program's sections.
#include "engine/run/walk.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "engine/program_maker.h"
#include "engine/run/section_runner.h"

namespace diptych {
namespace {

using testing::make_table;
using testing::ProgramMaker;

const Type whole{TypeId::Integer}, number{TypeId::BigInt};

struct Told {
  int placed = 0, ended = 0;
  std::vector<int32_t> timed;  // addresses, in order
};

class Recorder final : public PlacedRun {
 public:
  explicit Recorder(Told& told) : told_(told) { ++told_.placed; }
  void add_time(int32_t address, int64_t nanoseconds) override {
    EXPECT_GE(nanoseconds, 0);
    told_.timed.push_back(address);
  }
  void end() override { ++told_.ended; }

 private:
  Told& told_;
};

// Places every run, and leaves all sections to the CPU; as a fallback, or as it was placed.
class CpuOnly final : public SectionRunner {
 public:
  CpuOnly(Told& told, bool falls_back) : told_(told), falls_back_(falls_back) {}
  std::optional<SectionResult> run(const SectionTask& task, const PlacementChoice&, PlacementNote& note) override {
    if (*task.placed == nullptr) *task.placed = std::make_unique<Recorder>(told_);
    if (falls_back_) note.fallback = "on purpose";
    return std::nullopt;
  }
  bool start(const SectionTask&, const PlacementChoice&) override { return false; }
  std::shared_ptr<DeviceIndex> build(const IndexTask&, bool, PlacementNote&) override { return nullptr; }
  bool attempt(Device&, const PlacementChoice&, bool, PlacementNote&, const std::function<void()>& work) override {
    work();
    return true;
  }

 private:
  Told& told_;
  const bool falls_back_;
};

// SELECT a, count(*) FROM rows GROUP BY a; addresses: of its sections.
std::shared_ptr<const Program> grouped(std::vector<int32_t>& addresses) {
  std::vector<std::vector<Value>> rows;
  for (int i = 0; i < 1000; ++i) rows.push_back({Value::integer(i % 10)});
  ProgramMaker maker(make_table({{"a", whole}}, rows, 64));
  const RegisterInfo key{PhysicalType::Int32, whole}, count{PhysicalType::Int64, number};
  HashTableInfo groups;
  groups.keys = {key};
  groups.aggregates = {{AggregateState::CountStar, {}, count}};
  maker.program().hash_tables.push_back(groups);
  addresses = {maker.next()};
  maker.parallel(0);
  const int a = maker.column(0), number = maker.reg(whole);
  maker.emit(Opcode::Group, number, a, 0);
  maker.emit(Opcode::Aggregate, 0, -1, number, int64_t{0});
  maker.converge();
  const int cursor = maker.groups(0);
  addresses.push_back(maker.next());
  maker.parallel(cursor);
  const int out = maker.column(0);
  maker.result({out, maker.column(1)});
  maker.converge();
  return maker.finish();
}

Told run(bool falls_back, std::vector<int32_t>& addresses) {
  Told told;
  CpuOnly devices(told, falls_back);
  const PlacementChoice choice;
  ExecutionContext context;
  context.devices = &devices;
  context.choice = &choice;
  EXPECT_EQ(run_program(grouped(addresses), context)->row_count(), 10);
  return told;
}

TEST(Walk, SectionsArePlacedOnceAndTimedWithTheOperationsBehindThem) {
  std::vector<int32_t> addresses;
  const Told told = run(false, addresses);
  EXPECT_EQ(told.placed, 1);
  EXPECT_EQ(told.timed, addresses);
  EXPECT_EQ(told.ended, 1);
}

TEST(Walk, ARunThatHasFallenBackTeachesNothing) {
  std::vector<int32_t> addresses;
  const Told told = run(true, addresses);
  EXPECT_EQ(told.placed, 1);
  EXPECT_EQ(told.ended, 0);
}

}  // namespace
}  // namespace diptych
