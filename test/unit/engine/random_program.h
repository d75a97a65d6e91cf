// Random programs over random tables: one section with expressions of every type, NULLs, branches and moves, into a
// result.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "engine/program_maker.h"

namespace diptych::testing {

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  int below(int bound) { return static_cast<int>(random_() % static_cast<uint64_t>(bound)); }
  bool chance(int percent) { return below(100) < percent; }

  Value value(const Type& type, int magnitude) {
    const auto wide = static_cast<int64_t>(random_());
    switch (type.id) {
      case TypeId::Boolean: return Value::boolean(chance(50));
      case TypeId::Integer:
        return Value::integer(static_cast<int32_t>(magnitude >= 32 ? wide : wide % (int64_t{1} << magnitude)));
      case TypeId::BigInt: return Value::bigint(magnitude >= 40 ? wide : wide % (int64_t{1} << magnitude) * 100);
      case TypeId::Text:
        return Value::string(type, std::string(static_cast<size_t>(below(3)), static_cast<char>('a' + below(3))));
      default: return Value::floating(type, chance(3) ? std::nan("") : static_cast<float>(wide % 2000) / 8);
    }
  }

  void make_table(int64_t rows) {
    const Type types[] = {integer, integer, bigint, bigint, text, real, floating, boolean};
    for (const Type& type : types) columns_.push_back({"c", type});
    std::vector<int> magnitudes, nulls;
    for (size_t c = 0; c < columns_.size(); ++c) {
      magnitudes.push_back(std::vector<int>{0, 2, 6, 12, 20, 31, 62}[static_cast<size_t>(below(7))]);
      nulls.push_back(chance(50) ? 0 : below(60));
    }
    for (int64_t row = 0; row < rows; ++row) {
      auto& values = table_.emplace_back();
      for (size_t c = 0; c < columns_.size(); ++c) {
        values.push_back(chance(nulls[c]) ? Value::null(columns_[c].type) : value(columns_[c].type, magnitudes[c]));
      }
    }
  }

  std::shared_ptr<const Program> make_program(int64_t tablet_rows) {
    maker_.emplace(diptych::testing::make_table(columns_, table_, tablet_rows, chance(50)));
    maker_->parallel(0);
    for (int c = 0; c < static_cast<int>(columns_.size()); ++c) visible_.push_back(maker_->column(c));
    statements(6 + below(8), 2);
    std::vector<int> output;
    for (int i = 0; i < 4; ++i)
      output.push_back(visible_[static_cast<size_t>(below(static_cast<int>(visible_.size())))]);
    const int32_t result_at = maker_->next();
    for (const int32_t jump : to_result_) maker_->program().instructions[static_cast<size_t>(jump)].p3 = result_at;
    maker_->result(output);
    for (const int32_t jump : to_end_) maker_->land(jump);
    maker_->converge();
    return maker_->finish();
  }

  const std::vector<std::vector<Value>>& table() const { return table_; }

 private:
  const Type integer{TypeId::Integer}, bigint{TypeId::BigInt}, text{TypeId::Text}, real{TypeId::Real},
      floating{TypeId::Double}, boolean{TypeId::Boolean};

  const Type& type_of(int number) { return maker_->program().registers[static_cast<size_t>(number)].type; }

  // A visible register of the type, or a new constant.
  int operand(const Type& type) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int number = visible_[static_cast<size_t>(below(static_cast<int>(visible_.size())))];
      if (type_of(number) == type) return number;
    }
    return maker_->constant(chance(5) ? Value::null(type) : value(type, 6));
  }
  Type any_type() { return type_of(visible_[static_cast<size_t>(below(static_cast<int>(visible_.size())))]); }

  void statements(int count, int depth) {
    for (int i = 0; i < count; ++i) {
      const int kind = below(100);
      if (kind < 30)
        arithmetic();
      else if (kind < 55)
        truth();
      else if (kind < 80 && depth > 0)
        branch(depth);
      else if (kind < 90)
        leave();
      else if (kind < 93)
        maker_->emit(Opcode::Invalid);
      else
        move();
    }
  }

  void arithmetic() {
    const Opcode opcodes[] = {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Add,
                              Opcode::Sub, Opcode::Div, Opcode::Mod};
    const Opcode opcode = opcodes[below(chance(20) ? 7 : 5)];
    const Type types[] = {integer, bigint, real, floating};
    const Type type = types[below(opcode == Opcode::Mod ? 2 : 4)];
    const int a = operand(type), b = operand(type), out = maker_->reg(type);
    decltype(Instruction::p4) check;
    if (opcode != Opcode::Mod) check = type == integer && chance(5) ? Check::Int16 : Check::Register;
    maker_->emit(opcode, out, a, b, check);
    visible_.push_back(out);
  }

  void truth() {
    const Opcode comparisons[] = {Opcode::SetEq, Opcode::SetNeq, Opcode::SetLt,       Opcode::SetLe,
                                  Opcode::SetGt, Opcode::SetGe,  Opcode::SetDistinct, Opcode::SetNotDistinct};
    const int out = maker_->reg(boolean);
    const int kind = below(10);
    if (kind < 5) {
      const Type type = any_type();
      const int a = operand(type), b = operand(type);
      maker_->emit(comparisons[below(8)], out, a, b);
    } else if (kind < 7) {
      const int a = operand(boolean), b = operand(boolean);
      maker_->emit(chance(50) ? Opcode::SetAnd : Opcode::SetOr, out, a, b);
    } else if (kind < 8) {
      const Opcode unary[] = {Opcode::SetNot, Opcode::SetIsTrue, Opcode::SetIsFalse};
      const int a = operand(boolean);
      maker_->emit(unary[below(3)], out, a);
    } else if (kind < 9) {
      const int a = operand(any_type());
      maker_->emit(Opcode::SetIsNull, out, a);
    } else {
      const Type type = any_type();
      ValueSet set{type.physical(), {}, chance(20)};
      for (int i = below(5); i >= 0; --i) set.values.push_back(value(type, 4));
      maker_->program().sets.push_back(set);
      const int a = operand(type);
      maker_->emit(Opcode::SetIn, out, a, static_cast<int>(maker_->program().sets.size()) - 1);
    }
    visible_.push_back(out);
  }

  int32_t conditional_jump() {
    const int64_t bits[] = {jump_invalid,
                            jump_valid,
                            jump_invalid | jump_if_null,
                            jump_valid | jump_if_null,
                            jump_keep,
                            jump_keep | jump_if_null};
    const int64_t validity = bits[below(6)];
    const int kind = below(10);
    if (kind < 6) {
      const Opcode comparisons[] = {Opcode::Eq, Opcode::Neq, Opcode::Lt, Opcode::Le, Opcode::Gt, Opcode::Ge};
      const Type type = any_type();
      const int a = operand(type), b = operand(type);
      return maker_->emit(comparisons[below(6)], a, b, 0, validity);
    }
    if (kind < 8) {
      const int a = operand(boolean), b = operand(boolean);
      const Opcode opcodes[] = {Opcode::And, Opcode::Or};
      return maker_->emit(opcodes[below(2)], a, b, 0, validity);
    }
    const Opcode opcodes[] = {Opcode::Not, Opcode::If, Opcode::IfNull, Opcode::IfNotNull};
    const Opcode opcode = opcodes[below(4)];
    const int a = operand(opcode == Opcode::Not || opcode == Opcode::If ? boolean : any_type());
    return maker_->emit(opcode, a, 0, 0, validity);
  }

  // Rows that don't jump run some statements more; what those write is not visible behind.
  void branch(int depth) {
    const int32_t jump = conditional_jump();
    const size_t before = visible_.size();
    statements(1 + below(4), depth - 1);
    visible_.resize(before);
    maker_->land(jump);
  }

  void leave() {
    const int32_t jump = conditional_jump();
    to_end_.push_back(jump);
  }

  // A register with two writers, as CASE has it: a value, and another where a condition holds.
  void move() {
    const Type type = any_type();
    const int out = maker_->reg(type);
    const int first = operand(type);
    maker_->emit(Opcode::Move, out, first);
    const int32_t jump = conditional_jump();
    maker_->program().instructions[static_cast<size_t>(jump)].p4 = jump_keep;
    const int second = operand(type);
    maker_->emit(Opcode::Move, out, second);
    maker_->land(jump);
    visible_.push_back(out);
  }

  std::mt19937_64 random_;
  std::vector<ColumnDefinition> columns_;
  std::vector<std::vector<Value>> table_;
  std::optional<ProgramMaker> maker_;
  std::vector<int> visible_;
  std::vector<int32_t> to_result_, to_end_;
};

inline std::string listing(const Program& program) {
  std::string lines;
  for (const std::string& line : disassemble(program)) lines += line + "\n";
  return lines;
}

inline bool equal_cells(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null() || !a.type().is_float()) return a == b;
  return a.as_double() == b.as_double() || (std::isnan(a.as_double()) && std::isnan(b.as_double()));
}

inline void compare_rows(const std::vector<std::vector<Value>>& got, const std::vector<std::vector<Value>>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t row = 0; row < got.size(); ++row) {
    for (size_t c = 0; c < got[row].size(); ++c) {
      ASSERT_TRUE(equal_cells(got[row][c], expected[row][c]))
          << "row " << row << " column " << c << ": " << got[row][c].to_text() << ", not "
          << expected[row][c].to_text();
    }
  }
}

}  // namespace diptych::testing
