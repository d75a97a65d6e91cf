// The verifier: a program that passes can be run by any engine without further checks of its structure.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "base/error.h"
#include "program/operands.h"
#include "program/program.h"

namespace diptych {

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program) : program_(program) {}

  void run() {
    const auto count = static_cast<int32_t>(program_.instructions.size());
    require(count > 0 && program_.instructions.back().opcode == Opcode::Finish, "a program ends in Finish");
    for (address_ = 0; address_ < count; ++address_) {
      check_objects(program_.instructions[address_]);
      if (current().opcode == Opcode::Parallel) {
        check_section();
      } else {
        require(info_of(current().opcode).kind == OpcodeKind::Setup, "row opcodes stand inside a parallel section");
      }
    }
  }

 private:
  using RegisterSet = std::vector<bool>;

  const Instruction& current() const { return program_.instructions[address_]; }

  void require(bool holds, std::string_view rule) const {
    if (holds) return;
    throw Error(SqlState::internal_error, fmt::format("program invalid at address {}: {}", address_, rule));
  }

  // Every operand that names an object names one that is there.
  void check_objects(const Instruction& instruction) const {
    const OpcodeInfo& info = info_of(instruction.opcode);
    for (int i = 0; i < 3; ++i) {
      const std::string_view role = info.operands[i];
      const int32_t value = operand(instruction, i);
      const auto within = [&](size_t size) {
        require(value >= 0 && static_cast<size_t>(value) < size, fmt::format("operand p{} ({}) exists", i + 1, role));
      };
      if (role == "out" || role == "in") within(program_.registers.size());
      if (role == "cursor") within(program_.cursors.size());
      if (role == "source") within(program_.sources.size());
      if (role == "hash") within(program_.hash_tables.size());
      if (role == "sorter") within(program_.sorters.size());
      if (role == "lookup") within(program_.lookups.size());
      if (role == "set") within(program_.sets.size());
      if (role == "type") within(program_.types.size());
      if (role == "in?" && value != -1) within(program_.registers.size());
    }
    for_each_register_read(program_, instruction, [&](int32_t index) {
      require(index >= 0 && static_cast<size_t>(index) < program_.registers.size(), "registers read exist");
    });
  }

  // One section: from the Parallel at address_ to its Converge, where address_ is left.
  void check_section() {
    const int32_t converge = current().p3;
    const CursorInfo& cursor = program_.cursors[current().p1];
    require(converge > address_ && converge < static_cast<int32_t>(program_.instructions.size()) &&
                program_.instructions[converge].opcode == Opcode::Converge,
            "Parallel names its Converge");
    // written_at[a] = registers written on every path that reaches address a; empty: not reached yet.
    std::vector<RegisterSet> written_at(converge + 1);
    written_at[address_ + 1] = RegisterSet(program_.registers.size(), false);
    std::vector<bool> written_once(program_.registers.size(), false);
    for (++address_; address_ < converge; ++address_) {
      const Instruction& instruction = current();
      require(info_of(instruction.opcode).kind != OpcodeKind::Setup, "setup opcodes stand outside parallel sections");
      check_objects(instruction);
      RegisterSet written = written_at[address_];
      if (written.empty()) continue;  // no row gets here
      check_row_opcode(instruction, cursor, written, written_once);
      const int32_t target = jump_target(instruction);
      if (target >= 0) {
        require(target > address_ && target <= converge, "jumps go forward and stay in the section");
        meet(written_at[target], written);
      }
      if (instruction.opcode != Opcode::Jump) meet(written_at[address_ + 1], written);
    }
  }

  void check_row_opcode(const Instruction& instruction, const CursorInfo& cursor, RegisterSet& written,
                        std::vector<bool>& written_once) const {
    for_each_register_read(program_, instruction, [&](int32_t index) {
      require(written[index], "registers are written before they are read");
    });
    if (instruction.opcode == Opcode::Column || instruction.opcode == Opcode::Code)
      require(instruction.p2 >= 0 && static_cast<size_t>(instruction.p2) < cursor.columns.size(), "the column exists");
    const int32_t out = register_written(instruction);
    if (out < 0) return;
    const bool is_move = instruction.opcode == Opcode::Move;
    require(is_move || !written_once[out], "a register is written once, but for Move");
    if (is_move)
      require(program_.registers[out].physical == program_.registers[instruction.p2].physical,
              "Move keeps the physical type");
    written_once[out] = true;
    written[out] = true;
  }

  // A register counts as written at an address only when every path there has written it.
  static void meet(RegisterSet& at, const RegisterSet& from) {
    if (at.empty()) {
      at = from;
      return;
    }
    for (size_t i = 0; i < at.size(); ++i) at[i] = at[i] && from[i];
  }

  const Program& program_;
  int32_t address_ = 0;
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace diptych
