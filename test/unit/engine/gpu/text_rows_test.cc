// Sections that take strings from heaps and dictionaries, make new ones and output them: on every device there is, in
// every residency, compared with the CPU's.
#include "engine/gpu/text_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "engine/device/device_list.h"
#include "engine/gpu/device_rows.h"
#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/section_kernel.h"
#include "engine/program_maker.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu {
namespace {

using diptych::testing::make_table;
using diptych::testing::ProgramMaker;
using diptych::testing::rows_of;

using Rows = std::vector<std::vector<Value>>;

const Type integer = {TypeId::Integer}, text = {TypeId::Text};
const std::vector<ColumnDefinition> columns = {{"a", integer}, {"s", text}};

// Every fifth string is NULL; others are empty, short, of two-byte characters, or as long as `longest`.
Rows random_rows(size_t count, uint64_t seed, size_t longest) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    std::string value;
    switch (random() % 5) {
      case 0: break;
      case 1: value = "row " + std::to_string(random() % 1000); break;
      case 2: value = "\xC3\xA9t\xC3\xA9 " + std::to_string(i); break;
      default: value.assign(random() % (longest + 1), static_cast<char>('a' + random() % 26));
    }
    const bool is_null = random() % 5 == 0;
    rows.push_back({Value::integer(static_cast<int32_t>(random() % 100)),
                    is_null ? Value::null(text) : Value::string(text, value)});
  }
  return rows;
}

// The string, a constant, a piece of the string, upper(s || '-' || s), the integer as text and either of two strings.
ProgramMaker everything(const std::shared_ptr<const TabletSource>& table) {
  ProgramMaker maker(table);
  maker.parallel(0);
  const int a = maker.column(0), s = maker.column(1);
  const int dash = maker.constant(Value::string(text, "-")), two = maker.constant(Value::integer(2));
  const int ninety = maker.constant(Value::integer(90));
  const int32_t leave = maker.emit(Opcode::Gt, a, ninety, 0, int64_t{0});
  const int parts = maker.block({s, two});
  const int piece = maker.reg(text);
  maker.emit(Opcode::Call, piece, parts, 2, FunctionId::substring_from_text);
  const int joined_parts = maker.block({s, dash, s}), joined = maker.reg(text), upper = maker.reg(text);
  maker.emit(Opcode::Concat, joined, joined_parts, 3);
  maker.emit(Opcode::Call, upper, joined, 1, FunctionId::upper_text);
  const int digits = maker.reg(text);
  maker.emit(Opcode::Call, digits, a, 1, FunctionId::cast_i32_text);
  const int either = maker.reg(text);
  maker.emit(Opcode::Move, either, s);
  const int32_t keep = maker.emit(Opcode::Gt, a, two, 0, int64_t{1});
  maker.emit(Opcode::Move, either, dash);
  maker.land(keep);
  maker.result({a, s, dash, piece, upper, digits, either});
  maker.land(leave);
  maker.converge();
  return maker;
}

int32_t section_of(const Program& program) {
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    if (program.instructions[i].opcode == Opcode::Parallel) return static_cast<int32_t>(i);
  }
  return -1;
}

class TextRowsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string none = "no usable device";
    for (const std::string& absent : list_.absent()) none += "; " + absent;
    for (const DeviceInfo& info : list_.infos()) {
      if (info.unusable.empty()) engines_.push_back(std::make_unique<GpuEngine>(*list_.find(info.id())));
    }
    if (engines_.empty()) GTEST_SKIP() << none;
    std::cout << "seed " << seed_ << "\n";
  }

  void agrees_with_cpu(ProgramMaker maker) {
    const Rows expected = maker.run(1);
    const auto program = maker.finish();
    const ExecutionContext context;
    std::vector<ColumnDefinition> result_columns;
    for (const ResultColumnInfo& column : program->result_columns) result_columns.push_back({column.name, column.type});
    for (const auto& engine : engines_) {
      for (const Residency residency : {Residency::Serial, Residency::Streamed, Residency::Mapped, Residency::Cached}) {
        if (residency == Residency::Mapped && !engine->device().info().can_map) continue;
        SCOPED_TRACE(engine->device().info().id() + " " + name_of(residency));
        std::string reason;
        const SectionTask task{*program, section_of(*program), program->sources[0], -1, context};
        auto result = engine->run(task, residency, reason);
        ASSERT_TRUE(result) << reason;
        DeviceRows rows(result_columns);
        for (SectionRows& piece : result->rows) rows.add(std::move(piece));
        EXPECT_EQ(rows_of(rows), expected);
      }
    }
  }

  DeviceList list_;
  std::vector<std::unique_ptr<GpuEngine>> engines_;
  const uint64_t seed_ = std::random_device()();
};

TEST_F(TextRowsTest, OfHeapsAndDictionaries) {
  for (const bool dictionaries : {false, true}) {
    for (const size_t rows : {0, 1, 31, 64, 65, 3000})
      agrees_with_cpu(everything(make_table(columns, random_rows(rows, seed_, 20), 64, dictionaries)));
  }
}

// More strings, and more room for new ones, than anyone expects.
TEST_F(TextRowsTest, LongStrings) {
  agrees_with_cpu(everything(make_table(columns, random_rows(70, seed_, 50000), 64, false)));
}

TEST_F(TextRowsTest, ManyPieces) {
  agrees_with_cpu(everything(make_table(columns, random_rows(150000, seed_, 4), 65536, false)));
}

TEST(TextRowsKernel, CompilesForCuda) {
  diptych::testing::Nvrtc nvrtc;
  if (!nvrtc.load()) GTEST_SKIP() << "no NVRTC";
  const auto program = everything(make_table(columns, random_rows(10, 1, 4), 64)).finish();
  for (const bool mixed : {false, true}) {
    SectionShape shape;
    shape.columns = {{0, Encoding::FrameOfReference, PhysicalType::Int32, 1, true, true, false},
                     {1, Encoding::Heap, PhysicalType::Text, -1, true, true, mixed}};
    const SectionKernel kernel = generate_section(*program, section_of(*program), shape);
    ASSERT_EQ(kernel.unsupported, "");
    EXPECT_EQ(kernel.new_texts, 3);
    EXPECT_EQ(nvrtc.complaints(kernel.text, "sm_90"), "");
  }
}

}  // namespace
}  // namespace diptych::gpu
