// Makes a section ready: which rows can still become valid at each address, where jumps arrive, and a function for each
// opcode.
#include <algorithm>

#include "base/error.h"
#include "engine/cpu/step.h"
#include "program/operands.h"

namespace diptych::cpu {
namespace {

int64_t validity_of(const Instruction& instruction) {
  const int64_t* bits = std::get_if<int64_t>(&instruction.p4);
  return bits != nullptr ? *bits : 0;
}

bool is_jump(const Instruction& instruction) { return info_of(instruction.opcode).kind == OpcodeKind::Jump; }

class Preparation {
 public:
  Preparation(const Program& program, int32_t address, const PreparedObjects& prepared)
      : program_(program), prepared_(prepared), parallel_(program.instructions[static_cast<size_t>(address)]) {
    section_.first = address + 1;
    section_.cursor = &program.cursors[static_cast<size_t>(parallel_.p1)];
    end_ = parallel_.p3;
  }

  Section make() {
    find_revivals();
    find_targets();
    count_writers();
    for (int32_t address = section_.first; address < end_; ++address) add_step(address);
    if (section_.tracks_validity) mark_drops();
    return std::move(section_);
  }

 private:
  const Instruction& at(int32_t address) const { return program_.instructions[static_cast<size_t>(address)]; }

  // revives_[a]: a row at address a can still meet a jump that makes rows valid. Backwards, since jumps go forward.
  void find_revivals() {
    revives_.assign(static_cast<size_t>(end_ - section_.first) + 1, false);
    for (int32_t address = end_ - 1; address >= section_.first; --address) {
      const Instruction& instruction = at(address);
      bool revives = false;
      if (is_jump(instruction)) {
        const int64_t bits = validity_of(instruction);
        revives = ((bits & jump_valid) != 0 && (bits & jump_keep) == 0) || can_revive(instruction.p3);
      }
      if (instruction.opcode != Opcode::Jump) revives = revives || can_revive(address + 1);
      revives_[static_cast<size_t>(address - section_.first)] = revives;
    }
  }
  bool can_revive(int32_t address) const { return revives_[static_cast<size_t>(address - section_.first)]; }

  void find_targets() {
    for (int32_t address = section_.first; address < end_; ++address) {
      if (is_jump(at(address)) && at(address).p3 < end_) section_.targets.push_back(at(address).p3 - section_.first);
    }
    std::sort(section_.targets.begin(), section_.targets.end());
    section_.targets.erase(std::unique(section_.targets.begin(), section_.targets.end()), section_.targets.end());
  }
  int target_number(int32_t address) const {
    const int32_t step = address - section_.first;
    const auto place = std::lower_bound(section_.targets.begin(), section_.targets.end(), step);
    return place != section_.targets.end() && *place == step ? static_cast<int>(place - section_.targets.begin()) : -1;
  }

  void count_writers() {
    section_.writers.assign(program_.registers.size(), 0);
    section_.constants.assign(program_.registers.size(), false);
    for (int32_t address = section_.first; address < end_; ++address) {
      const int32_t out = register_written(at(address));
      if (out < 0) continue;
      uint8_t& writers = section_.writers[static_cast<size_t>(out)];
      writers = static_cast<uint8_t>(std::min(2, writers + 1));
      section_.constants[static_cast<size_t>(out)] = writers == 1 && is_constant_load(at(address).opcode);
    }
  }

  void add_step(int32_t address) {
    const Instruction& instruction = at(address);
    Step& step = section_.steps.emplace_back();
    step.instruction = &instruction;
    step.arrivals = target_number(address);
    step.out = register_written(instruction);
    if (is_jump(instruction)) set_jump_effect(step);
    if (instruction.opcode == Opcode::Invalid) {
      step.jump.makes_invalid = true;
      step.jump.finishes = !can_revive(address + 1);
      section_.tracks_validity |= !step.jump.finishes;
    }
    if (info_of(instruction.opcode).kind == OpcodeKind::Sink) section_.last_sink = address - section_.first;
    resolve(step);
  }

  // Where the last hope of invalid rows ends, they are forgotten.
  void mark_drops() {
    for (int32_t address = section_.first + 1; address < end_; ++address) {
      Step& step = section_.steps[static_cast<size_t>(address - section_.first)];
      step.drops_invalid = !can_revive(address) && (step.arrivals >= 0 || can_revive(address - 1));
    }
  }

  void set_jump_effect(Step& step) {
    const Instruction& instruction = *step.instruction;
    const int64_t bits = validity_of(instruction);
    JumpEffect& jump = step.jump;
    jump.target = instruction.p3 < end_ ? target_number(instruction.p3) : -1;
    jump.if_null = (bits & jump_if_null) != 0;
    jump.makes_valid = (bits & jump_keep) == 0 && (bits & jump_valid) != 0;
    jump.makes_invalid = (bits & jump_keep) == 0 && (bits & jump_valid) == 0;
    jump.finishes = instruction.p3 >= end_ || (jump.makes_invalid && !can_revive(instruction.p3));
    section_.tracks_validity |= jump.makes_invalid && !jump.finishes;
  }

  void resolve(Step& step) {
    switch (step.instruction->opcode) {
      case Opcode::Column:
      case Opcode::Code:
      case Opcode::Rowid:
      case Opcode::Integer:
      case Opcode::Float:
      case Opcode::Constant:
      case Opcode::Null:
      case Opcode::Move:
      case Opcode::Lookup: return resolve_load(program_, section_, step, prepared_);
      case Opcode::Add:
      case Opcode::Sub:
      case Opcode::Mul:
      case Opcode::Negate: return resolve_arithmetic(program_, step);
      case Opcode::Div:
      case Opcode::Mod:
      case Opcode::NumericDiv:
      case Opcode::Rescale: return resolve_division(program_, step);
      case Opcode::Cast: return resolve_cast(program_, step);
      case Opcode::SetEq:
      case Opcode::SetNeq:
      case Opcode::SetLt:
      case Opcode::SetLe:
      case Opcode::SetGt:
      case Opcode::SetGe:
      case Opcode::SetDistinct:
      case Opcode::SetNotDistinct:
      case Opcode::Eq:
      case Opcode::Neq:
      case Opcode::Lt:
      case Opcode::Le:
      case Opcode::Gt:
      case Opcode::Ge: return resolve_comparison(program_, section_, step);
      case Opcode::SetAnd:
      case Opcode::SetOr:
      case Opcode::SetNot:
      case Opcode::SetIsNull:
      case Opcode::SetIsTrue:
      case Opcode::SetIsFalse:
      case Opcode::SetIn: return resolve_truth(program_, step, prepared_);
      case Opcode::Call:
      case Opcode::Concat: return resolve_call(program_, step);
      case Opcode::And:
      case Opcode::Or:
      case Opcode::Not:
      case Opcode::If:
      case Opcode::IfNull:
      case Opcode::IfNotNull:
      case Opcode::Jump:
      case Opcode::Invalid: return resolve_jump(step);
      case Opcode::Group:
      case Opcode::Aggregate:
      case Opcode::SortRow:
      case Opcode::Result: return resolve_sink(step);
      default: throw Error(SqlState::internal_error, "an opcode stands where the engine can't run it");
    }
  }

  const Program& program_;
  const PreparedObjects& prepared_;
  const Instruction& parallel_;
  int32_t end_ = 0;
  std::vector<bool> revives_;
  Section section_;
};

}  // namespace

Section prepare_section(const Program& program, int32_t address, const PreparedObjects& prepared) {
  return Preparation(program, address, prepared).make();
}

bool is_constant_load(Opcode opcode) {
  return opcode == Opcode::Integer || opcode == Opcode::Float || opcode == Opcode::Constant || opcode == Opcode::Null;
}

bool is_constant(const Section& section, int number) { return section.constants[static_cast<size_t>(number)]; }

}  // namespace diptych::cpu
