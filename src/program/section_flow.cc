#include "program/section_flow.h"

#include <algorithm>

#include "program/operands.h"

namespace diptych {
namespace {

int64_t validity_of(const Instruction& instruction) {
  const int64_t* bits = std::get_if<int64_t>(&instruction.p4);
  return bits != nullptr ? *bits : 0;
}

bool is_jump(const Instruction& instruction) { return info_of(instruction.opcode).kind == OpcodeKind::Jump; }

class Analysis {
 public:
  Analysis(const Program& program, int32_t address) : program_(program) {
    flow_.first = address + 1;
    flow_.end = program.instructions[static_cast<size_t>(address)].p3;
  }

  SectionFlow make() {
    find_revivals();
    find_targets();
    count_writers();
    flow_.effects.resize(static_cast<size_t>(flow_.end - flow_.first));
    flow_.drops_invalid = std::vector<bool>(flow_.effects.size());
    for (int32_t address = flow_.first; address < flow_.end; ++address) add_effect(address);
    if (flow_.tracks_validity) mark_drops();
    return std::move(flow_);
  }

 private:
  const Instruction& at(int32_t address) const { return program_.instructions[static_cast<size_t>(address)]; }

  // revives_[a]: a row at address a can still meet a jump that makes rows valid. Backwards, since jumps go forward.
  void find_revivals() {
    revives_ = std::vector<bool>(static_cast<size_t>(flow_.end - flow_.first) + 1);
    for (int32_t address = flow_.end - 1; address >= flow_.first; --address) {
      const Instruction& instruction = at(address);
      bool revives = false;
      if (is_jump(instruction)) {
        const int64_t bits = validity_of(instruction);
        revives = ((bits & jump_valid) != 0 && (bits & jump_keep) == 0) || can_revive(instruction.p3);
      }
      if (instruction.opcode != Opcode::Jump) revives = revives || can_revive(address + 1);
      revives_[static_cast<size_t>(address - flow_.first)] = revives;
    }
  }
  bool can_revive(int32_t address) const { return revives_[static_cast<size_t>(address - flow_.first)]; }

  void find_targets() {
    for (int32_t address = flow_.first; address < flow_.end; ++address) {
      if (is_jump(at(address)) && at(address).p3 < flow_.end) flow_.targets.push_back(at(address).p3);
    }
    std::sort(flow_.targets.begin(), flow_.targets.end());
    flow_.targets.erase(std::unique(flow_.targets.begin(), flow_.targets.end()), flow_.targets.end());
  }

  void count_writers() {
    flow_.writers.assign(program_.registers.size(), 0);
    flow_.constants = std::vector<bool>(program_.registers.size());
    for (int32_t address = flow_.first; address < flow_.end; ++address) {
      const int32_t out = register_written(at(address));
      if (out < 0) continue;
      uint8_t& writers = flow_.writers[static_cast<size_t>(out)];
      writers = static_cast<uint8_t>(std::min(2, writers + 1));
      flow_.constants[static_cast<size_t>(out)] = writers == 1 && is_constant_load(at(address).opcode);
    }
  }

  void add_effect(int32_t address) {
    const Instruction& instruction = at(address);
    JumpEffect& effect = flow_.effects[static_cast<size_t>(address - flow_.first)];
    if (is_jump(instruction)) set_effect(instruction, effect);
    if (instruction.opcode == Opcode::Invalid) {
      effect.makes_invalid = true;
      effect.finishes = !can_revive(address + 1);
      flow_.tracks_validity |= !effect.finishes;
    }
    if (info_of(instruction.opcode).kind == OpcodeKind::Sink) flow_.last_sink = address;
  }

  void set_effect(const Instruction& instruction, JumpEffect& effect) {
    const int64_t bits = validity_of(instruction);
    effect.target = instruction.p3 < flow_.end ? flow_.target_number(instruction.p3) : -1;
    effect.if_null = (bits & jump_if_null) != 0;
    effect.makes_valid = (bits & jump_keep) == 0 && (bits & jump_valid) != 0;
    effect.makes_invalid = (bits & jump_keep) == 0 && (bits & jump_valid) == 0;
    effect.finishes = instruction.p3 >= flow_.end || (effect.makes_invalid && !can_revive(instruction.p3));
    flow_.tracks_validity |= effect.makes_invalid && !effect.finishes;
  }

  // Where the last hope of invalid rows ends, they are forgotten.
  void mark_drops() {
    for (int32_t address = flow_.first + 1; address < flow_.end; ++address) {
      flow_.drops_invalid[static_cast<size_t>(address - flow_.first)] =
          !can_revive(address) && (flow_.target_number(address) >= 0 || can_revive(address - 1));
    }
  }

  const Program& program_;
  std::vector<bool> revives_;
  SectionFlow flow_;
};

}  // namespace

int SectionFlow::target_number(int32_t address) const {
  const auto place = std::lower_bound(targets.begin(), targets.end(), address);
  return place != targets.end() && *place == address ? static_cast<int>(place - targets.begin()) : -1;
}

SectionFlow analyse_section(const Program& program, int32_t address) { return Analysis(program, address).make(); }

bool is_constant_load(Opcode opcode) {
  return opcode == Opcode::Integer || opcode == Opcode::Float || opcode == Opcode::Constant || opcode == Opcode::Null;
}

}  // namespace diptych
