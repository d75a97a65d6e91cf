// Programs that break a rule are refused, with the rule in the message.
#include <gtest/gtest.h>

#include "base/error.h"
#include "program/builder.h"

namespace diptych {
namespace {

// select column 0 where column 0 > 5, over a cursor of one integer column.
class VerifierTest : public ::testing::Test {
 protected:
  VerifierTest() {
    Program& program = builder_.program();
    program.cursors.emplace_back();
    program.cursors.back().columns.resize(1);
    program.sources.emplace_back();
    builder_.emit(Opcode::Table, 0, 0, 0, std::string("t"));
    parallel_ = builder_.emit(Opcode::Parallel, 0);
  }

  void end_section() {
    builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
    builder_.emit(Opcode::Finish);
  }

  int32_t integer_register() { return builder_.new_register({PhysicalType::Int32, Type{TypeId::Integer}, false}); }

  void expect_refused(const std::string& rule) {
    try {
      verify(builder_.program());
      FAIL() << "the program passed";
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::internal_error);
      EXPECT_NE(error.message().find(rule), std::string::npos) << error.message();
    }
  }

  ProgramBuilder builder_;
  int32_t parallel_ = 0;
};

TEST_F(VerifierTest, AcceptsAFilter) {
  const int32_t column = integer_register(), bound = integer_register();
  builder_.emit(Opcode::Column, column, 0);
  builder_.emit(Opcode::Integer, bound, 5);
  Label end;
  builder_.emit_jump(Opcode::Le, column, bound, end, jump_invalid);
  builder_.emit(Opcode::Result, column, 1);
  builder_.bind(end);
  end_section();
  EXPECT_NO_THROW(verify(builder_.program()));
}

TEST_F(VerifierTest, RefusesReadingBeforeWriting) {
  builder_.emit(Opcode::Result, integer_register(), 1);
  end_section();
  expect_refused("written before they are read");
}

TEST_F(VerifierTest, RefusesAValueOfOnePathOnly) {
  const int32_t column = integer_register(), other = integer_register();
  builder_.emit(Opcode::Column, column, 0);
  Label skip;
  builder_.emit_jump(Opcode::IfNull, column, 0, skip, jump_keep);
  builder_.emit(Opcode::Integer, other, 1);
  builder_.bind(skip);
  builder_.emit(Opcode::Result, other, 1);
  end_section();
  expect_refused("written before they are read");
}

TEST_F(VerifierTest, RefusesWritingTwice) {
  const int32_t number = integer_register();
  builder_.emit(Opcode::Integer, number, 1);
  builder_.emit(Opcode::Integer, number, 2);
  end_section();
  expect_refused("written once");
}

TEST_F(VerifierTest, RefusesJumpingBackward) {
  const int32_t number = integer_register();
  builder_.emit(Opcode::Integer, number, 1);
  builder_.emit(Opcode::Jump, 0, 0, parallel_ + 1, jump_keep);
  end_section();
  expect_refused("jumps go forward");
}

TEST_F(VerifierTest, RefusesColumnsThatAreNotThere) {
  builder_.emit(Opcode::Column, integer_register(), 7);
  end_section();
  expect_refused("the column exists");
}

TEST_F(VerifierTest, RefusesRowOpcodesOutsideASection) {
  builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
  builder_.emit(Opcode::Null, integer_register());
  builder_.emit(Opcode::Finish);
  expect_refused("inside a parallel section");
}

TEST_F(VerifierTest, RefusesAnEndWithoutFinish) {
  builder_.program().instructions[parallel_].p3 = builder_.emit(Opcode::Converge);
  expect_refused("ends in Finish");
}

}  // namespace
}  // namespace diptych
