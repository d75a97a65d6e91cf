// The listing of a program, in the manner of SQLite's EXPLAIN: one line an opcode, with a comment on what it does here.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "program/operands.h"
#include "program/program.h"

namespace diptych {

namespace {

std::string quoted(const Value& value) {
  if (value.is_null()) return "NULL";
  return value.type().is_string() ? "'" + value.to_text() + "'" : value.to_text();
}

const char* name_of(Check check) {
  switch (check) {
    case Check::None: return "";
    case Check::Register: return "check register";
    case Check::Int16: return "check 16 bits";
    case Check::Digits: return "check digits";
  }
  return "";
}

std::string validity_text(int64_t bits) {
  std::string text = bits & jump_keep ? "keep" : bits & jump_valid ? "valid" : "invalid";
  return bits & jump_if_null ? text + "|null" : text;
}

class Disassembler {
 public:
  explicit Disassembler(const Program& program) : program_(program) {}

  std::vector<std::string> run() {
    std::vector<std::string> lines;
    lines.push_back(
        fmt::format("{:>4}  {:<18} {:>5} {:>5} {:>5}  {:<22} {}", "addr", "opcode", "p1", "p2", "p3", "p4", "comment"));
    for (size_t address = 0; address < program_.instructions.size(); ++address) lines.push_back(line(address));
    return lines;
  }

 private:
  std::string line(size_t address) {
    const Instruction& instruction = program_.instructions[address];
    const OpcodeInfo& info = info_of(instruction.opcode);
    if (instruction.opcode == Opcode::Converge) in_section_ = false;
    std::string name = (in_section_ ? "  " : "") + std::string(info.name);
    if (instruction.opcode == Opcode::Parallel) {
      in_section_ = true;
      cursor_ = &program_.cursors[instruction.p1];
    }
    return fmt::format("{:>4}  {:<18} {:>5} {:>5} {:>5}  {:<22} {}", address, name, operand_text(instruction, 0),
                       operand_text(instruction, 1), operand_text(instruction, 2), p4_text(instruction),
                       comment(instruction));
  }

  static std::string operand_text(const Instruction& instruction, int number) {
    const std::string_view role = info_of(instruction.opcode).operands[number];
    const int32_t value = operand(instruction, number);
    if (role == "-" || (role == "in?" && value < 0)) return "-";
    const bool is_register = role == "out" || role == "in" || role == "in?" || role == "block";
    return is_register ? fmt::format("r{}", value) : fmt::format("{}", value);
  }

  static std::string p4_text(const Instruction& instruction) {
    if (auto* value = std::get_if<Value>(&instruction.p4)) return quoted(*value);
    if (auto* name = std::get_if<std::string>(&instruction.p4)) return *name;
    if (auto* check = std::get_if<Check>(&instruction.p4)) return name_of(*check);
    if (auto* function = std::get_if<FunctionId>(&instruction.p4)) return info_of(*function).kernel_name;
    auto* number = std::get_if<int64_t>(&instruction.p4);
    if (!number) return "";
    const bool is_jump = info_of(instruction.opcode).kind == OpcodeKind::Jump;
    return is_jump ? validity_text(*number) : fmt::format("{}", *number);
  }

  // The effect from the opcode table with this instruction's operands put in.
  std::string comment(const Instruction& instruction) const {
    if (instruction.opcode == Opcode::Column || instruction.opcode == Opcode::Code) return column_comment(instruction);
    if (instruction.opcode == Opcode::Cast)
      return fmt::format("r{} = r{} as {}", instruction.p3, instruction.p2, program_.types[instruction.p1].name());
    if (instruction.opcode == Opcode::Parallel)
      return fmt::format("for every row of {}{}", cursor_->name, rows_through());
    // The main clause; what follows the semicolon is for the manual.
    std::string text = info_of(instruction.opcode).effect;
    text.resize(std::min(text.size(), text.find(';')));
    if (text.starts_with("(V) ")) text.erase(0, 4);
    for (int number = 0; number < 3; ++number)
      replace_all(text, fmt::format("p{}", number + 1), operand_text(instruction, number));
    replace_all(text, "p4", p4_text(instruction));
    if (instruction.opcode == Opcode::RowSet) return text + kept_rows(program_.row_sets[instruction.p1]);
    if (instruction.opcode == Opcode::Build)
      return text + about(program_.indexes[instruction.p1].expected_rows, "rows");
    if (instruction.opcode == Opcode::Matches) {
      const IndexInfo& index = program_.indexes[instruction.p3];
      if (index.finds_one) replace_all(text, "every row of", "one row or more of");
      return text + about(index.expected_pairs, "pairs");
    }
    return text;
  }

  static std::string about(int64_t number, const char* of) {
    return number == 0 ? "" : fmt::format(", about {} {}", number, of);
  }

  std::string rows_through() const {
    if (cursor_->expected_rows == 0) return "";
    return fmt::format(", about {} in and {} out", cursor_->expected_rows, cursor_->expected_rows_out);
  }

  // Of a subquery's LIMIT; that of a sort alone is part of SortRows.
  static std::string kept_rows(const RowSetInfo& info) {
    if (info.offset == 0 && (info.limit < 0 || !info.keys.empty())) return "";
    const std::string last = info.limit >= 0 ? fmt::format("to {}", info.limit) : "on";
    return fmt::format(", which keeps its rows from {} {}", info.offset + 1, last);
  }

  std::string column_comment(const Instruction& instruction) const {
    const auto column = static_cast<size_t>(instruction.p2);
    const RegisterInfo& info = program_.registers[instruction.p1];
    std::string text = fmt::format("r{} = {}{}", instruction.p1, instruction.opcode == Opcode::Code ? "code of " : "",
                                   column_name(column));
    return text + fmt::format(" {}", diptych::name_of(info.physical));
  }

  std::string column_name(size_t column) const {
    return column < cursor_->column_names.size() ? cursor_->column_names[column] : fmt::format("column {}", column);
  }

  static void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }

  const Program& program_;
  const CursorInfo* cursor_ = nullptr;
  bool in_section_ = false;
};

}  // namespace

std::vector<std::string> disassemble(const Program& program) { return Disassembler(program).run(); }

}  // namespace diptych
