#include "program/builder.h"

namespace diptych {

int32_t ProgramBuilder::emit(Opcode opcode, int32_t p1, int32_t p2, int32_t p3, decltype(Instruction::p4) p4) {
  program_->instructions.push_back({opcode, p1, p2, p3, std::move(p4), position_});
  return static_cast<int32_t>(program_->instructions.size()) - 1;
}

int32_t ProgramBuilder::open_rows(int32_t row_set, std::string name, std::vector<std::string> column_names) {
  const auto cursor = static_cast<int32_t>(program_->cursors.size());
  program_->cursors.push_back(
      {std::move(name), program_->row_sets[static_cast<size_t>(row_set)].columns, std::move(column_names), {}});
  emit(Opcode::Rows, cursor, row_set);
  return cursor;
}

}  // namespace diptych
