#include "engine/gpu/generator/generated_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/gpu/input/source_shape.h"
#include "engine/random_program.h"
#include "kernel/nvrtc_compiler.h"

namespace diptych::gpu {
namespace {

int32_t parallel_of(const Program& program) {
  int32_t address = 0;
  while (program.instructions[static_cast<size_t>(address)].opcode != Opcode::Parallel) ++address;
  return address;
}

TEST(GeneratedKernels, OneSignatureOneText) {
  std::map<SectionSignature, std::string> texts;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::RandomProgram random(seed);
    random.make_table(50);
    const auto program = random.make_program(64);
    const int32_t address = parallel_of(*program);
    const SectionShape shape = find_source_shape(*program, address, *program->sources.front());
    const std::string text = generate_section(*program, address, shape).source.text();
    const auto [known, is_new] = texts.emplace(section_signature(*program, address, shape), text);
    EXPECT_EQ(known->second, text);
  }
}

class OneColumn {
 public:
  OneColumn() : maker_(testing::make_table({{"a", type_}}, {{Value::integer(1)}, {Value::integer(900)}}, 64)) {
    maker_.parallel(0);
    const int a = maker_.column(0), bound = maker_.constant(Value::integer(10));
    const int32_t leave = maker_.emit(Opcode::Ge, a, bound, 0, jump_if_null);
    maker_.result({a});
    maker_.land(leave);
    maker_.converge();
    program_ = std::make_unique<Program>(*maker_.finish());
    address_ = parallel_of(*program_);
    shape_ = find_source_shape(*program_, address_, *program_->sources.front());
  }
  Program& program() { return *program_; }
  SectionShape& shape() { return shape_; }
  SectionSignature signature() const { return section_signature(*program_, address_, shape_); }
  std::shared_ptr<const SectionKernel> kernel() { return kernels_.get(*program_, address_, shape_); }

 private:
  const Type type_{TypeId::Integer};
  testing::ProgramMaker maker_;
  std::unique_ptr<Program> program_;
  int32_t address_ = 0;
  SectionShape shape_;
  GeneratedKernels kernels_;
};

// Where an opcode stands in the statement's text is nothing that a kernel knows.
TEST(GeneratedKernels, TheSameSectionIsNotGeneratedAgain) {
  OneColumn section;
  const auto kernel = section.kernel();
  EXPECT_NE(kernel->source.text().find("DK_KERNEL"), std::string::npos);
  section.program().instructions.front().position = 77;
  EXPECT_EQ(section.kernel(), kernel);
}

TEST(GeneratedKernels, WhateverAKernelMayDependOnIsInTheSignature) {
  const SectionSignature before = OneColumn().signature();
  const auto expect_other = [&](const char* what, const auto& change) {
    OneColumn section;
    EXPECT_EQ(section.signature(), before);
    change(section);
    EXPECT_NE(section.signature(), before) << what;
  };
  expect_other("opcode", [](OneColumn& section) { section.program().instructions.back().opcode = Opcode::Offset; });
  expect_other("operand", [](OneColumn& section) { section.program().instructions.back().p4 = int64_t{1}; });
  expect_other("NULL", [](OneColumn& section) { section.program().registers.front().nullable ^= true; });
  expect_other("range", [](OneColumn& section) { section.program().registers.front().has_range ^= true; });
  expect_other("column",
               [](OneColumn& section) { section.program().cursors.front().columns.front().nullable ^= true; });
  expect_other("hash table", [](OneColumn& section) { section.program().hash_tables.emplace_back(); });
  expect_other("row set", [](OneColumn& section) { section.program().row_sets.emplace_back(); });
  expect_other("set", [](OneColumn& section) { section.program().sets.emplace_back(); });
  expect_other("lookup", [](OneColumn& section) { section.program().lookups.emplace_back(); });
  expect_other("result", [](OneColumn& section) { section.program().result_columns.front().type.scale = 3; });
  expect_other("width", [](OneColumn& section) { section.shape().columns.front().width = 8; });
  expect_other("refused", [](OneColumn& section) { section.shape().unsupported = "for some reason"; });
}

TEST(GeneratedKernels, NamesTheCastThatTheCpuComputes) {
  const Type from{TypeId::Double};
  testing::ProgramMaker maker(testing::make_table({{"a", from}}, {{Value::float64(1.5)}}, 64));
  maker.parallel(0);
  const int a = maker.column(0), text = maker.reg(Type{TypeId::Text});
  maker.emit(Opcode::Call, text, a, 1, FunctionId::cast_f64_text);
  maker.result({text});
  maker.converge();
  const auto program = maker.finish();
  const int32_t address = parallel_of(*program);
  const SectionShape shape = find_source_shape(*program, address, *program->sources.front());
  EXPECT_EQ(generate_section(*program, address, shape).unsupported,
            "cast from double precision to text is computed on the CPU only");
}

// A result of so many sums of columns.
SectionKernel kernel_of_sums(int count) {
  const Type type{TypeId::Double};
  const auto columns = static_cast<size_t>(count);
  testing::ProgramMaker maker(testing::make_table(std::vector(columns, ColumnDefinition{"c", type}),
                                                  {std::vector(columns, Value::float64(1.5))}, 64));
  maker.parallel(0);
  std::vector<int> sums;
  for (int i = 0; i < count; ++i) {
    const int column = maker.column(i);
    sums.push_back(maker.reg(type));
    maker.emit(Opcode::Add, sums.back(), column, column);
  }
  maker.result(sums);
  maker.converge();
  const auto program = maker.finish();
  const int32_t address = parallel_of(*program);
  return generate_section(*program, address, find_source_shape(*program, address, *program->sources.front()));
}

TEST(GeneratedKernels, AnItemTakesOneRowWhereSeveralHaveMoreValuesThanRegisters) {
  testing::Nvrtc nvrtc;
  const bool has_compiler = nvrtc.load();
  for (const auto& [sums, rows] : {std::pair(8, 4), std::pair(20, 1), std::pair(100, 1)}) {
    const SectionKernel kernel = kernel_of_sums(sums);
    ASSERT_EQ(kernel.unsupported, "") << sums;
    EXPECT_EQ(kernel.rows_per_thread, rows) << sums;
    EXPECT_EQ(has_compiler ? nvrtc.complaints(kernel.source.text(), "sm_90") : "", "") << sums;
  }
}

TEST(GeneratedKernels, ASignatureIsKeptByTheProgramsNumber) {
  OneColumn one;
  GeneratedKernels kernels;
  const int32_t address = parallel_of(one.program());
  for (const uint64_t number : {0, 7, 7}) {
    one.program().number = number;
    EXPECT_EQ(kernels.signature(one.program(), address, one.shape()), one.signature()) << number;
  }
  one.shape().most_dense_bytes += 1;
  EXPECT_EQ(kernels.signature(one.program(), address, one.shape()), one.signature()) << "another shape";
}

// Rows of a table for a row set, without those that are NULL, and what reads that.
struct AppendCase {
  const char* name;
  int keys;                // of the index over the row set; -1: there is none
  bool is_read;            // by a section, too
  bool leaves_out = true;  // the NULLs
  const char* place;       // what tells rows their places; null: nothing need
};

SectionKernel kernel_of(const AppendCase& one) {
  const RegisterInfo value{PhysicalType::Int32, {TypeId::Integer}, true};
  Program program;
  program.cursors.emplace_back().columns = {value};
  program.cursors.emplace_back().columns = {value};
  program.row_sets.push_back({{value}, {}, -1});
  if (one.keys >= 0) program.indexes.push_back({0, one.keys});
  program.registers = {value};
  const auto add = [&](Opcode opcode, int32_t p1 = 0, int32_t p2 = 0, int32_t p3 = 0) {
    program.instructions.push_back({opcode, p1, p2, p3, {}});
  };
  add(Opcode::Parallel);
  add(Opcode::Column, 0, 0);
  const int32_t end = one.leaves_out ? 4 : 3;
  if (one.leaves_out) {
    add(Opcode::IfNull, 0, 0, end);
    program.instructions.back().p4 = int64_t{0};
  }
  add(Opcode::Append, 0, 0, 1);
  add(Opcode::Converge);
  program.instructions[0].p3 = end;
  if (one.is_read) add(Opcode::Rows, 1, 0);
  add(Opcode::Finish);
  SectionShape shape;
  shape.columns.push_back({.column = 0, .width = 4, .has_nulls = true});
  return generate_section(program, 0, shape);
}

TEST(GeneratedKernels, RowsOfAnIndexTakeAnyPlaceWhereNobodyElseReadsThem) {
  constexpr const char *any = "place = dk_team_take(", *in_order = "place = dk_look_back(";
  testing::Nvrtc nvrtc;
  const bool has_compiler = nvrtc.load();
  for (const AppendCase& one :
       {AppendCase{"an index", 1, false, true, any}, AppendCase{"an index and a section", 1, true, true, in_order},
        AppendCase{"all rows, one after the other", 0, false, true, in_order},
        AppendCase{"no index", -1, true, true, in_order}, AppendCase{"every row", 1, false, false, nullptr}}) {
    const SectionKernel kernel = kernel_of(one);
    ASSERT_EQ(kernel.unsupported, "") << one.name;
    const std::string& text = kernel.source.text();
    for (const char* place : {any, in_order})
      EXPECT_EQ(text.find(place) != std::string::npos, place == one.place) << one.name << ", " << place;
    EXPECT_EQ(has_compiler ? nvrtc.complaints(text, "sm_90") : "", "") << one.name;
  }
}

}  // namespace
}  // namespace diptych::gpu
