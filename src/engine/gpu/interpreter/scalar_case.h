// The operations of the interpreter: every scalar expression that programs can have, numbered.
//
//   Add r9 r8 r3 check     ->  "dk_add_i64((dk_i64)a[k], (dk_i64)b[k], &error)"  ->  case 17 of the values
//
// An operation is known by its very text, which scalar_text() makes as for a generated kernel. The table holds the
// texts of all forms that programs are expected to have; what a program has besides is not found, and then the
// interpreter does not do it. Digits, scales and shifts are no part of a text: they are `first` and `second` there,
// numbers of the step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"

namespace diptych::gpu {

enum class CasePath : uint8_t {
  Value,    // operands and result of at most 8 bytes: all rows of a work-item at once
  Compare,  // the same, the result is a truth value
  Rows      // row by row: wide operands, costly functions
};

struct ScalarCase {
  CasePath path = CasePath::Value;
  std::string text;
  int32_t first = 0, second = 0;  // the numbers of the step
  bool is_condition = false;
  std::string unsupported;
};

// Of arithmetic, comparisons and calls; operands are numbered in the order of for_each_register_read.
ScalarCase scalar_case(const Program& program, const Instruction& instruction);
class CaseTable {
 public:
  // The operations of the smaller kernel, or of the one that has functions of SQL as well.
  static const CaseTable& of(bool with_functions);

  std::optional<int32_t> number_of(const ScalarCase& wanted) const;
  const std::vector<std::string>& texts(CasePath path) const { return texts_[static_cast<size_t>(path)]; }

 private:
  explicit CaseTable(bool with_functions);
  void add(const ScalarCase& one);
  void add_opcode(Opcode opcode, std::vector<PhysicalType> operands, PhysicalType out, Check check, int32_t number);
  void add_arithmetic();
  void add_conversions();
  void add_comparisons();
  void add_functions();

  std::map<std::pair<CasePath, std::string>, int32_t> numbers_;
  std::vector<std::string> texts_[3];
};

}  // namespace diptych::gpu
