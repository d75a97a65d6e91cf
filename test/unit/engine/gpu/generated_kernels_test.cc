#include "engine/gpu/generator/generated_kernels.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/gpu/input/source_shape.h"
#include "engine/random_program.h"

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

}  // namespace
}  // namespace diptych::gpu
