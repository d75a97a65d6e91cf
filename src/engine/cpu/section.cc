// Makes a section ready: a function for each opcode.
#include <set>

#include "base/error.h"
#include "engine/cpu/step.h"
#include "program/comparison.h"
#include "program/operands.h"

namespace diptych::cpu {
namespace {

class Preparation {
 public:
  Preparation(const Program& program, int32_t address, const PreparedObjects& prepared)
      : program_(program), prepared_(prepared), flow_(analyse_section(program, address)) {
    section_.first = flow_.first;
    section_.cursor = &program.cursors[static_cast<size_t>(program.instructions[static_cast<size_t>(address)].p1)];
  }

  Section make() {
    for (int32_t target : flow_.targets) section_.targets.push_back(target - flow_.first);
    section_.writers = flow_.writers;
    section_.constants = flow_.constants;
    section_.tracks_validity = flow_.tracks_validity;
    section_.lazy_columns.assign(flow_.writers.size(), false);
    section_.places = place_registers(program_, flow_);
    section_.steps.reserve(static_cast<size_t>(flow_.end - flow_.first));
    for (int32_t address = flow_.first; address < flow_.end; ++address) add_step(address);
    return std::move(section_);
  }

 private:
  void add_step(int32_t address) {
    const Instruction& instruction = program_.instructions[static_cast<size_t>(address)];
    Step& step = section_.steps.emplace_back();
    step.instruction = &instruction;
    step.arrivals = flow_.target_number(address);
    step.out = register_written(instruction);
    if (instruction.opcode == Opcode::Column || instruction.opcode == Opcode::Code) {
      const auto out = static_cast<size_t>(step.out);
      section_.lazy_columns[out] = flow_.writers[out] == 1 && section_.matches.empty();
    }
    step.is_last_sink = address == flow_.last_sink;
    step.jump = flow_.effect(address);
    step.drops_invalid = flow_.drops_invalid[static_cast<size_t>(address - flow_.first)];
    resolve(step);
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
      case Opcode::Matches: add_match(*step.instruction); [[fallthrough]];
      case Opcode::Fetch: return resolve_match(program_, section_, step);
      case Opcode::Group:
      case Opcode::Aggregate:
      case Opcode::Append:
      case Opcode::Result: return resolve_sink(step);
      default: break;
    }
    if (comparison_of(step.instruction->opcode)) return resolve_comparison(program_, section_, step);
    throw Error(SqlState::internal_error, "an opcode stands where the engine can't run it");
  }

  void add_match(const Instruction& matches) {
    const auto at = static_cast<int32_t>(&matches - program_.instructions.data());
    MatchPoint& point = section_.matches.emplace_back();
    point.step = at - flow_.first + 1;
    std::set<int32_t> written, live;
    for (int32_t address = flow_.first; address < flow_.end; ++address) {
      const Instruction& instruction = program_.instructions[static_cast<size_t>(address)];
      const int32_t out = register_written(instruction);
      if (address < at && out >= 0) written.insert(out);
      if (address <= at) continue;
      for_each_register_read(program_, instruction, [&](int32_t number) {
        if (written.contains(number) && !flow_.constants[static_cast<size_t>(number)]) live.insert(number);
      });
    }
    point.live.assign(live.begin(), live.end());
    section_.lazy_columns.assign(section_.lazy_columns.size(), false);
  }

  const Program& program_;
  const PreparedObjects& prepared_;
  const SectionFlow flow_;
  Section section_;
};

}  // namespace

Section prepare_section(const Program& program, int32_t address, const PreparedObjects& prepared) {
  return Preparation(program, address, prepared).make();
}

bool is_constant(const Section& section, int number) { return section.constants[static_cast<size_t>(number)]; }

}  // namespace diptych::cpu
