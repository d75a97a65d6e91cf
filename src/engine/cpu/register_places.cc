#include "engine/cpu/register_places.h"

#include <algorithm>
#include <array>

#include "program/operands.h"

namespace diptych::cpu {
namespace {

class Scan {
 public:
  Scan(const Program& program, const SectionFlow& flow) : program_(program), flow_(flow) {
    places_.of_register.assign(program.registers.size(), -1);
    last_use_.assign(program.registers.size(), -1);
  }

  RegisterPlaces make() {
    int32_t matches = -1;  // address of the last ones
    std::vector<int32_t> first_use(last_use_.size(), INT32_MAX);
    for (int32_t address = flow_.first; address < flow_.end; ++address) {
      const Opcode opcode = instruction_at(address).opcode;
      for_each_use(address, [&](int32_t number) {
        const auto at = static_cast<size_t>(number);
        first_use[at] = std::min(first_use[at], address);
        // What is from before Matches is read again for each of them, columns of the rows as well.
        const bool stays = matches >= 0 && (first_use[at] <= matches || is_column(opcode));
        last_use_[at] = stays || last_use_[at] == to_the_end ? to_the_end : address;
      });
      if (opcode == Opcode::Matches) matches = address;
    }
    for (int32_t address = flow_.first; address < flow_.end; ++address) {
      const int32_t out = register_written(instruction_at(address));
      if (out >= 0) place(static_cast<size_t>(out));
      // Only now: an opcode writes some rows of its result before it has read others of its operands.
      for_each_use(address, [&](int32_t number) { release(static_cast<size_t>(number), address); });
    }
    return std::move(places_);
  }

 private:
  const Instruction& instruction_at(int32_t address) const {
    return program_.instructions[static_cast<size_t>(address)];
  }
  template <typename Visit>
  void for_each_use(int32_t address, Visit&& visit) const {
    const Instruction& instruction = instruction_at(address);
    for_each_register_read(program_, instruction, visit);
    if (const int32_t out = register_written(instruction); out >= 0) visit(out);
  }

  static bool is_column(Opcode opcode) { return opcode == Opcode::Column || opcode == Opcode::Code; }

  void place(size_t number) {
    int32_t& place = places_.of_register[number];
    if (place >= 0) return;
    const RegisterPlace wanted{program_.registers[number].physical, flow_.constants[number]};
    std::vector<int32_t>& free = free_[static_cast<size_t>(wanted.physical)];
    if (wanted.is_constant || free.empty()) {
      place = static_cast<int32_t>(places_.places.size());
      places_.places.push_back(wanted);
      return;
    }
    place = free.back();
    free.pop_back();
  }

  void release(size_t number, int32_t address) {
    if (last_use_[number] != address || flow_.constants[number]) return;
    last_use_[number] = -1;  // an opcode may name a register twice
    free_[static_cast<size_t>(program_.registers[number].physical)].push_back(places_.of_register[number]);
  }

  const Program& program_;
  const SectionFlow& flow_;
  RegisterPlaces places_;
  static constexpr int32_t to_the_end = INT32_MAX;
  std::vector<int32_t> last_use_;  // address, by register
  static constexpr size_t physical_types = static_cast<size_t>(PhysicalType::Text) + 1;
  std::array<std::vector<int32_t>, physical_types> free_;  // places
};

}  // namespace

RegisterPlaces place_registers(const Program& program, const SectionFlow& flow) { return Scan(program, flow).make(); }

}  // namespace diptych::cpu
