#include "engine/cpu/join/ordered_section.h"

#include <algorithm>

#include "base/error.h"
#include "program/operands.h"
#include "program/section_contents.h"

namespace diptych::cpu {
namespace {

class OrderedMaker {
 public:
  OrderedMaker(const Program& program, int32_t address, const std::function<bool(int32_t index)>& has_positions)
      : from_(program), address_(address), has_positions_(has_positions) {
    made_.program = program;
    const auto opcodes = opcodes_of(program, address);
    sink_ = opcodes.back();
    end_ = address + static_cast<int32_t>(opcodes.size());  // the sink
    is_result_ = sink_.opcode == Opcode::Result;
    values_ = is_result_ ? sink_.p1 : sink_.p2;
    count_ = is_result_ ? sink_.p2 : sink_.p3;
  }

  OrderedSection make(int64_t rows, int64_t wanted) {
    for (const Instruction& at : opcodes_of(from_, address_))
      if (at.opcode == Opcode::Matches) matches_.push_back(at);
    add_registers(rows);
    add_row_set(wanted);
    made_.collecting = emit(Opcode::Parallel, from_.instructions[static_cast<size_t>(address_)].p1);
    emit(Opcode::Rowid, keys_);
    copy_opcodes();
    for (size_t i = 0; i < matches_.size(); ++i) emit_position(matches_[i], keys_ + 1 + static_cast<int32_t>(i));
    for (int32_t i = 0; i < count_; ++i) emit(Opcode::Move, copies_ + i, values_ + i);
    emit(Opcode::Append, made_.row_set, keys_, key_count() + count_);
    converge(made_.collecting);
    add_writing_section();
    emit(Opcode::Finish);
    return std::move(made_);
  }

 private:
  int32_t emit(Opcode opcode, int32_t p1 = 0, int32_t p2 = 0, int32_t p3 = 0, decltype(Instruction::p4) p4 = {}) {
    return add({opcode, p1, p2, p3, std::move(p4), sink_.position});
  }
  int32_t add(Instruction instruction) {
    made_.program.instructions.push_back(std::move(instruction));
    return static_cast<int32_t>(made_.program.instructions.size()) - 1;
  }
  void converge(int32_t parallel) {
    const int32_t converge = emit(Opcode::Converge);
    made_.program.instructions[static_cast<size_t>(parallel)].p3 = converge;
    for (const int32_t jump : jumps_out_) made_.program.instructions[static_cast<size_t>(jump)].p3 = converge;
    jumps_out_.clear();
  }
  int32_t key_count() const { return static_cast<int32_t>(matches_.size()) + 1; }

  // Keys, then copies of what the sink takes.
  void add_registers(int64_t rows) {
    std::vector<RegisterInfo>& registers = made_.program.registers;
    keys_ = static_cast<int32_t>(registers.size());
    copies_ = keys_ + key_count();
    RegisterInfo position{PhysicalType::Int64, Type{TypeId::BigInt}, false};
    registers.insert(registers.end(), static_cast<size_t>(key_count()), position);
    registers[static_cast<size_t>(keys_)].has_range = true;
    registers[static_cast<size_t>(keys_)].high = std::max<int64_t>(0, rows - 1);
    for (int32_t i = 0; i < count_; ++i) registers.push_back(from_.registers[static_cast<size_t>(values_ + i)]);
  }

  void add_row_set(int64_t wanted) {
    RowSetInfo& info = made_.program.row_sets.emplace_back();
    made_.row_set = static_cast<int32_t>(made_.program.row_sets.size()) - 1;
    info.columns.assign(made_.program.registers.begin() + keys_, made_.program.registers.end());
    info.keys.resize(static_cast<size_t>(key_count()));
    info.limit = is_result_ ? wanted : from_.row_sets[static_cast<size_t>(sink_.p1)].limit;
  }

  void copy_opcodes() {
    // Address address_ + 1 is now here.
    made_.moved = static_cast<int32_t>(made_.program.instructions.size()) - (address_ + 1);
    for (int32_t at = address_ + 1; at < end_; ++at) {
      Instruction copy = from_.instructions[static_cast<size_t>(at)];
      const int32_t target = jump_target(copy);
      if (target >= 0) copy.p3 = target + made_.moved;
      const int32_t added = add(std::move(copy));
      if (target > end_) jumps_out_.push_back(added);
    }
  }

  // Where the row that was met stands among those with its key.
  void emit_position(const Instruction& matches, int32_t key) {
    if (!has_positions_(matches.p3)) {
      emit(Opcode::Move, key, matches.p1);
      return;
    }
    const int32_t row_set = from_.indexes[static_cast<size_t>(matches.p3)].row_set;
    const size_t columns = from_.row_sets[static_cast<size_t>(row_set)].columns.size();
    emit(Opcode::Fetch, key, matches.p1, matches.p3, static_cast<int64_t>(columns));
  }

  void add_writing_section() {
    CursorInfo& cursor = made_.program.cursors.emplace_back();
    cursor.columns = made_.info().columns;
    cursor.column_names.resize(cursor.columns.size());
    const auto number = static_cast<int32_t>(made_.program.cursors.size()) - 1;
    emit(Opcode::Rows, number, made_.row_set);
    made_.writing = emit(Opcode::Parallel, number);
    for (int32_t i = 0; i < count_; ++i) emit(Opcode::Column, copies_ + i, key_count() + i);
    Instruction sink = sink_;
    (is_result_ ? sink.p1 : sink.p2) = copies_;
    add(std::move(sink));
    converge(made_.writing);
  }

  const Program& from_;
  const int32_t address_;
  const std::function<bool(int32_t index)>& has_positions_;
  OrderedSection made_;
  Instruction sink_;
  int32_t end_ = 0;
  bool is_result_ = false;
  int32_t values_ = 0, count_ = 0;  // registers that the sink takes
  int32_t keys_ = 0, copies_ = 0;   // registers
  std::vector<Instruction> matches_;
  std::vector<int32_t> jumps_out_;  // of the section being made: addresses
};

}  // namespace

bool keeps_order(const Program& program, int32_t address) {
  const Instruction& last = opcodes_of(program, address).back();
  return last.opcode == Opcode::Result ||
         (last.opcode == Opcode::Append && program.row_sets[static_cast<size_t>(last.p1)].keys.empty());
}

OrderedSection make_ordered(const Program& program, int32_t address, int64_t rows, int64_t wanted,
                            const std::function<bool(int32_t index)>& has_positions) {
  return OrderedMaker(program, address, has_positions).make(rows, wanted);
}

}  // namespace diptych::cpu
