// Puts a program together: registers, opcodes, labels whose address is known later.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"
#include "program/range.h"

namespace diptych {

// An address to come: jumps emitted towards it are completed when it is bound.
class Label {
 public:
  Label() = default;
  Label(const Label&) = delete;
  Label& operator=(const Label&) = delete;

 private:
  friend class ProgramBuilder;
  std::vector<int32_t> jumps_;
};

class ProgramBuilder {
 public:
  Program& program() { return *program_; }
  std::shared_ptr<Program> finish() { return std::move(program_); }

  int32_t emit(Opcode opcode, int32_t p1 = 0, int32_t p2 = 0, int32_t p3 = 0, decltype(Instruction::p4) p4 = {});
  void emit_jump(Opcode opcode, int32_t p1, int32_t p2, Label& label, int64_t validity) {
    label.jumps_.push_back(emit(opcode, p1, p2, 0, validity));
  }
  // The label stands for the next opcode emitted.
  void bind(Label& label) {
    for (int32_t address : label.jumps_) program_->instructions[address].p3 = next_address();
    label.jumps_.clear();
  }
  int32_t next_address() const { return static_cast<int32_t>(program_->instructions.size()); }

  int32_t new_register(const RegisterInfo& info) {
    program_->registers.push_back(info);
    return static_cast<int32_t>(program_->registers.size()) - 1;
  }
  // The first of `count` consecutive registers.
  int32_t new_block(size_t count) {
    const auto first = static_cast<int32_t>(program_->registers.size());
    program_->registers.resize(program_->registers.size() + count);
    return first;
  }
  int32_t new_row_set(RowSetInfo info) {
    program_->row_sets.push_back(std::move(info));
    return static_cast<int32_t>(program_->row_sets.size()) - 1;
  }
  // Emits Rows, and returns the new cursor. column_names: of the first columns, for EXPLAIN.
  int32_t open_rows(int32_t row_set, std::string name, std::vector<std::string> column_names);
  RegisterInfo& info(int32_t number) { return program_->registers[number]; }

  // The place in the statement's text that opcodes emitted from now on come from.
  int32_t position() const { return position_; }
  void set_position(int32_t position) { position_ = position; }

  // Regions: what is computed between enter_region() and leave_region() is computed for some rows only, so what was
  // remembered there (`undo` puts it back) must be forgotten after it.
  size_t enter_region() const { return undo_.size(); }
  void remember(std::function<void()> undo) { undo_.push_back(std::move(undo)); }
  void leave_region(size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) undo_.back()();
  }
  // Ends a section: its input columns are gone, and with them what there was to put back.
  void drop_regions() { undo_.clear(); }

 private:
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::vector<std::function<void()>> undo_;
  int32_t position_ = -1;
};

}  // namespace diptych
