#include "engine/reference_engine.h"

#include <cmath>
#include <optional>

namespace diptych::testing {
namespace {

struct RowError {
  SqlState state;
};

// -1, 0, 1 in the order of SQL.
int order_of(const Value& a, const Value& b) {
  const auto sign = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.type().is_string()) return sign(a.as_string(), b.as_string());
  if (a.type().id == TypeId::Boolean) return sign(a.as_boolean(), b.as_boolean());
  if (!a.type().is_float()) return sign(a.as_integral(), b.as_integral());
  const double x = a.as_double(), y = b.as_double();
  if (std::isnan(x) || std::isnan(y)) return static_cast<int>(std::isnan(x)) - static_cast<int>(std::isnan(y));
  return sign(x, y);
}

bool holds(Opcode opcode, int order) {
  switch (opcode) {
    case Opcode::Eq:
    case Opcode::SetEq: return order == 0;
    case Opcode::Neq:
    case Opcode::SetNeq: return order != 0;
    case Opcode::Lt:
    case Opcode::SetLt: return order < 0;
    case Opcode::Le:
    case Opcode::SetLe: return order <= 0;
    case Opcode::Gt:
    case Opcode::SetGt: return order > 0;
    default: return order >= 0;
  }
}

// Three-valued: nothing is unknown.
using Truth = std::optional<bool>;
Truth truth_of(const Value& value) { return value.is_null() ? Truth() : Truth(value.as_boolean()); }
Truth both(Truth a, Truth b) {
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Truth(true) : Truth();
}
Truth negated(Truth a) { return a ? Truth(!*a) : a; }
Truth either(Truth a, Truth b) { return negated(both(negated(a), negated(b))); }

class Row {
 public:
  Row(const Program& program, const std::vector<Value>& columns)
      : program_(program), columns_(columns), registers_(program.registers.size()) {}

  // The row that Result outputs, if it gets there.
  std::optional<std::vector<Value>> run(int32_t first, int32_t end) {
    std::optional<std::vector<Value>> result;
    for (int32_t at = first; at < end;) {
      if (!valid_ && !can_revive(at, end)) break;
      const Instruction& instruction = program_.instructions[static_cast<size_t>(at)];
      if (instruction.opcode == Opcode::Result && valid_) {
        result.emplace(registers_.begin() + instruction.p1, registers_.begin() + instruction.p1 + instruction.p2);
      }
      at = info_of(instruction.opcode).kind == OpcodeKind::Jump ? jump(instruction, at) : step(instruction, at);
    }
    return result;
  }

 private:
  bool can_revive(int32_t at, int32_t end) const {
    if (at >= end) return false;
    const Instruction& instruction = program_.instructions[static_cast<size_t>(at)];
    if (info_of(instruction.opcode).kind != OpcodeKind::Jump) return can_revive(at + 1, end);
    const int64_t bits = std::get<int64_t>(instruction.p4);
    if ((bits & jump_valid) != 0 && (bits & jump_keep) == 0) return true;
    return can_revive(instruction.p3, end) || (instruction.opcode != Opcode::Jump && can_revive(at + 1, end));
  }

  const Value& at(int32_t number) const { return registers_[static_cast<size_t>(number)]; }

  int32_t jump(const Instruction& instruction, int32_t address) {
    const int64_t bits = std::get<int64_t>(instruction.p4);
    const Truth condition = condition_of(instruction);
    const bool taken = condition ? *condition : (bits & jump_if_null) != 0;
    if (!taken) return address + 1;
    if ((bits & jump_keep) == 0) valid_ = (bits & jump_valid) != 0;
    return instruction.p3;
  }

  Truth condition_of(const Instruction& i) const {
    switch (i.opcode) {
      case Opcode::Jump: return true;
      case Opcode::And: return both(truth_of(at(i.p1)), truth_of(at(i.p2)));
      case Opcode::Or: return either(truth_of(at(i.p1)), truth_of(at(i.p2)));
      case Opcode::Not: return negated(truth_of(at(i.p1)));
      case Opcode::If: return truth_of(at(i.p1));
      case Opcode::IfNull: return at(i.p1).is_null();
      case Opcode::IfNotNull: return !at(i.p1).is_null();
      default: return compare(i.opcode, at(i.p1), at(i.p2));
    }
  }

  static Truth compare(Opcode opcode, const Value& a, const Value& b) {
    if (a.is_null() || b.is_null()) return {};
    return holds(opcode, order_of(a, b));
  }

  int32_t step(const Instruction& i, int32_t address) {
    if (i.opcode == Opcode::Invalid)
      valid_ = false;
    else if (i.opcode != Opcode::Result)
      registers_[static_cast<size_t>(i.p1)] = value_of(i);
    return address + 1;
  }

  static Value boolean(Truth truth) { return truth ? Value::boolean(*truth) : Value::null({TypeId::Boolean}); }

  Value value_of(const Instruction& i) const {
    switch (i.opcode) {
      case Opcode::Column: return columns_[static_cast<size_t>(i.p2)];
      case Opcode::Integer: return Value::integral(type_of(i.p1), i.p2);
      case Opcode::Constant: return std::get<Value>(i.p4);
      case Opcode::Null: return Value::null(type_of(i.p1));
      case Opcode::Move: return at(i.p2);
      case Opcode::SetAnd: return boolean(both(truth_of(at(i.p2)), truth_of(at(i.p3))));
      case Opcode::SetOr: return boolean(either(truth_of(at(i.p2)), truth_of(at(i.p3))));
      case Opcode::SetNot: return boolean(negated(truth_of(at(i.p2))));
      case Opcode::SetIsNull: return Value::boolean(at(i.p2).is_null());
      case Opcode::SetIsTrue: return Value::boolean(truth_of(at(i.p2)).value_or(false));
      case Opcode::SetIsFalse: return Value::boolean(!truth_of(at(i.p2)).value_or(true));
      case Opcode::SetDistinct: return Value::boolean(!same(at(i.p2), at(i.p3)));
      case Opcode::SetNotDistinct: return Value::boolean(same(at(i.p2), at(i.p3)));
      case Opcode::SetIn: return in(at(i.p2), program_.sets[static_cast<size_t>(i.p3)]);
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::Div:
      case Opcode::Mod: return arithmetic(i);
      default: return boolean(compare(i.opcode, at(i.p2), at(i.p3)));
    }
  }

  static bool same(const Value& a, const Value& b) {
    return a.is_null() || b.is_null() ? a.is_null() && b.is_null() : order_of(a, b) == 0;
  }

  static Value in(const Value& value, const ValueSet& set) {
    if (value.is_null()) return boolean({});
    for (const Value& one : set.values) {
      if (order_of(value, one) == 0) return Value::boolean(true);
    }
    return set.has_null ? boolean({}) : Value::boolean(false);
  }

  const Type& type_of(int32_t number) const { return program_.registers[static_cast<size_t>(number)].type; }

  Value arithmetic(const Instruction& i) const {
    const Value &a = at(i.p2), &b = at(i.p3);
    const Type& type = type_of(i.p1);
    if (a.is_null() || b.is_null()) return Value::null(type);
    return type.is_float() ? float_arithmetic(i.opcode, a, b, type)
                           : whole_arithmetic(i, a.as_integral(), b.as_integral(), type);
  }

  static Value float_arithmetic(Opcode opcode, const Value& a, const Value& b, const Type& type) {
    const auto rounded = [&](double value) {
      return type.id == TypeId::Real ? static_cast<double>(static_cast<float>(value)) : value;
    };
    const double x = a.as_double(), y = b.as_double();
    if (opcode == Opcode::Div && y == 0) throw RowError{SqlState::division_by_zero};
    const double result = rounded(opcode == Opcode::Add   ? x + y
                                  : opcode == Opcode::Sub ? x - y
                                  : opcode == Opcode::Mul ? x * y
                                                          : x / y);
    const bool overflow = std::isinf(result) && !std::isinf(x) && !std::isinf(y);
    const bool product = opcode == Opcode::Mul || opcode == Opcode::Div;
    if (overflow || (product && result == 0 && x != 0 && (opcode == Opcode::Div ? !std::isinf(y) : y != 0)))
      throw RowError{SqlState::numeric_value_out_of_range};
    return Value::floating(type, result);
  }

  Value whole_arithmetic(const Instruction& i, int128_t x, int128_t y, const Type& type) const {
    const bool divides = i.opcode == Opcode::Div || i.opcode == Opcode::Mod;
    if (divides && y == 0) throw RowError{SqlState::division_by_zero};
    int128_t result = 0;
    switch (i.opcode) {
      case Opcode::Add: result = x + y; break;
      case Opcode::Sub: result = x - y; break;
      case Opcode::Mul: result = x * y; break;
      case Opcode::Div: result = x / y; break;
      default: result = x % y;
    }
    const bool wide = program_.registers[static_cast<size_t>(i.p1)].physical == PhysicalType::Int64;
    const int128_t low = wide ? INT64_MIN : INT32_MIN, high = wide ? INT64_MAX : INT32_MAX;
    const Check* check = std::get_if<Check>(&i.p4);
    const bool small = check != nullptr && *check == Check::Int16;
    if (result < low || result > high || (small && (result < INT16_MIN || result > INT16_MAX)))
      throw RowError{SqlState::numeric_value_out_of_range};
    return Value::integral(type, result);
  }

  const Program& program_;
  const std::vector<Value>& columns_;
  std::vector<Value> registers_;
  bool valid_ = true;
};

}  // namespace

ReferenceOutcome run_by_reference(const Program& program, const std::vector<std::vector<Value>>& table) {
  int32_t first = 0;
  while (program.instructions[static_cast<size_t>(first)].opcode != Opcode::Parallel) ++first;
  const int32_t end = program.instructions[static_cast<size_t>(first)].p3;
  ReferenceOutcome outcome;
  for (const auto& columns : table) {
    try {
      if (auto row = Row(program, columns).run(first + 1, end)) outcome.rows.push_back(std::move(*row));
    } catch (const RowError& error) {
      outcome.errors.insert(error.state);
    }
  }
  return outcome;
}

}  // namespace diptych::testing
