// Turns one parallel section into the words that the interpreter's kernel runs; see kernel/device/interpreter_codes.h.
//
//   program                       steps
//   Column r0 ...
//   Integer r1 60
//   Ge r0 r1 7 invalid            RANGE: column 0, 60 .. greatest, jumps and finishes
//   Column r2 ...
//   Result r2 1                   END; pass: column 1, 4 bytes
//
// Columns and constants are operands wherever they are read, so that registers hold computed values only, each for as
// long as somebody reads it. NULLs, truth values and rows that wait at a target are masks.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/interpreter/scalar_case.h"
#include "engine/gpu/section_kernel.h"
#include "kernel/device/interpreter_codes.h"
#include "program/section_flow.h"

namespace diptych::gpu {

// Of the section behind the Parallel at `address`: a kernel whose text is the same for all programs, and the words that
// it runs. `unsupported` says what the interpreter does not do.
SectionKernel interpret_section(const Program& program, int32_t address, const SectionShape& shape);

// Numbers of a fixed range, each taken by one at a time.
class FreeNumbers {
 public:
  explicit FreeNumbers(size_t count) : taken_(count, false) {}
  // The first of `count` free ones in a row; -1: there are none.
  int take(size_t count);
  void give_back(int first, size_t count);

 private:
  std::vector<bool> taken_;
};

class SectionLowering {
 public:
  SectionLowering(const Program& program, int32_t address, const SectionShape& shape);
  SectionKernel lower();

 private:
  // Where a register is.
  struct Place {
    bool is_set = false;
    uint32_t operand = 0;
    uint32_t out_known = DK_MASK_ALL;  // mask that its writers set
    int dictionary_column = -1;        // strings: codes of that column's dictionary
    bool has_values = true;            // false: strings of which only NULLs are known
    int first_word = -1, words = 0, truth = -1;
    int32_t last_use = -1;
  };
  using Step = std::array<uint32_t, 8>;

  const RegisterInfo& info(int32_t number) const { return program_.registers[static_cast<size_t>(number)]; }
  const Instruction& at(int32_t address) const { return program_.instructions[static_cast<size_t>(address)]; }
  Place& place(int32_t number) { return places_[static_cast<size_t>(number)]; }
  void refuse(const std::string& reason) {
    if (kernel_.unsupported.empty()) kernel_.unsupported = reason;
  }

  void find_sink();
  void find_uses();
  void lower_instructions();
  void lower_instruction(int32_t address);
  void finish_jumps();
  void assemble();

  // ---- places
  uint32_t new_mask();
  // Of a register that is written now; one that several opcodes write keeps the place that it has.
  void give_place(int32_t number, bool may_be_null);
  void free_places(int32_t address);
  // Of values.
  uint32_t operand(int32_t number);
  bool may_be_null(int32_t number);
  uint32_t table_operand(std::array<uint64_t, 2> words, uint32_t known);
  uint32_t parameter_operand(KernelParameter first, KernelParameter second);
  uint32_t column_operand(size_t index, PhysicalType physical);

  // ---- steps
  Step& add_step(dk_step_kind kind, uint32_t number = 0, uint32_t flags = 0);
  void lower_constant(int32_t address);
  void lower_column(int32_t address);
  void lower_move(int32_t out, uint32_t from, PhysicalType physical);
  void lower_logic(int32_t address, dk_logic logic);
  bool lower_range(int32_t address);
  void lower_scalar(int32_t address);
  void lower_in(int32_t address);
  void lower_lookup(int32_t address);
  void lower_aggregate(int32_t address);
  void lower_result(int32_t address);
  void add_pass(uint32_t operand, dk_pass what, int bytes, int stride, KernelParameter to, uint64_t offset);
  uint32_t case_number(const ScalarCase& one);
  // What becomes of a condition: a truth value, or a jump.
  void set_effect(int32_t address, Step& step);
  void set_out(int32_t number, Step& step);

  const Program& program_;
  const int32_t address_;
  const SectionShape& shape_;
  const SectionFlow flow_;
  SectionKernel kernel_;
  StatesLayout states_;
  std::vector<Place> places_;
  FreeNumbers free_words_{DK_VALUE_ROOM}, free_masks_{DK_MASK_ROOM};
  std::vector<uint32_t> waiting_;  // masks of the targets
  std::vector<Step> steps_;
  std::vector<uint64_t> table_, passes_, ranges_;
  std::vector<SectionWord> table_words_, pass_words_;
  bool with_functions_ = false, reruns_ = false;
};

}  // namespace diptych::gpu
