// Comparisons of a column whose codes are a byte each with a constant: codes stand in the order of their values, so the
// constant is made a bound for codes once for each tile, and four codes are compared at once as they are stored
// (device/packed_codes.h). It takes a quarter of the instructions, and of the registers, that values take.
//
//   uniformi > 60, base -100    ->    bound 160    ->    dk_codes_over16_u8(p0, above_7)
#include <algorithm>

#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

namespace {

bool is_integer(PhysicalType physical) { return physical == PhysicalType::Int32 || physical == PhysicalType::Int64; }

}  // namespace

int32_t SectionGenerator::column_of_byte_codes(int32_t number) const {
  const Form form = registers_[static_cast<size_t>(number)].form;
  if ((form != Form::Vector && form != Form::Packed) || !is_integer(info(number).physical)) return -1;
  if (flow_.writers[static_cast<size_t>(number)] != 1) return -1;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    if (register_written(instruction) != number || instruction.opcode != Opcode::Column) continue;
    const ColumnShape& column = shape_.of(static_cast<size_t>(instruction.p2));
    const bool is_byte = column.encoding == Encoding::FrameOfReference && column.width == 1 && column.unit_factor;
    return is_byte ? static_cast<int32_t>(shape_.index_of(static_cast<size_t>(instruction.p2))) : -1;
  }
  return -1;
}

int32_t SectionGenerator::compared_column(int32_t address) const {
  const Instruction& instruction = at(address);
  if (!comparison_of(instruction.opcode) || compares_nulls(instruction.opcode)) return -1;
  const auto [left, right] = compared_registers(instruction);
  const auto is_constant = [&](int32_t number) {
    return registers_[static_cast<size_t>(number)].form == Form::Constant && is_integer(info(number).physical);
  };
  if (is_constant(right) && column_of_byte_codes(left) >= 0) return left;
  return is_constant(left) && column_of_byte_codes(right) >= 0 ? right : -1;
}

void SectionGenerator::choose_packed() {
  std::vector<bool> is_compared(registers_.size(), false), is_read(registers_.size(), false);
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    // Fetches columns where they are stored.
    if (gathers_ && address == flow_.last_sink) continue;
    const int32_t compared = compared_column(address);
    for_each_register_read(program_, at(address), [&](int32_t number) {
      (number == compared ? is_compared : is_read)[static_cast<size_t>(number)] = true;
    });
  }
  // What is compared behind several matches is of pairs, or of rows that are put together.
  for (int32_t address = std::min(first_pairs_, compacts_at_); address < flow_.end; ++address)
    if (const int32_t compared = compared_column(address); compared >= 0) is_read[static_cast<size_t>(compared)] = true;
  for (size_t i = 0; i < registers_.size(); ++i)
    if (is_compared[i] && !is_read[i]) registers_[i].form = Form::Packed;
}

bool SectionGenerator::is_packed(int32_t address) const {
  const int32_t number = compared_column(address);
  return number >= 0 && registers_[static_cast<size_t>(number)].form == Form::Packed;
}

// What the column is to be for the comparison to hold: Lt, less than the constant.
Comparison SectionGenerator::column_is(int32_t address) const {
  const Comparison comparison = *comparison_of(at(address).opcode);
  return compared_column(address) == compared_registers(at(address)).left ? comparison : mirrored(comparison);
}

// What the tile's codes are compared with: `from` for < and >=, `above` for <= and >, both for = and <>.
void SectionGenerator::write_code_bounds(int32_t address) {
  use_file("device/packed_codes.h");
  const auto [left, right] = compared_registers(at(address));
  const int32_t number = compared_column(address);
  const std::string constant = fmt::format("(dk_i64)r{}", number == left ? right : left);
  const Comparison comparison = column_is(address);
  const int32_t column = column_of_byte_codes(number);
  if (comparison != Comparison::Le && comparison != Comparison::Gt)
    body_.line("const dk_i32 from_{} = dk_bound_from({}, base_{});", address, constant, column);
  if (comparison != Comparison::Lt && comparison != Comparison::Ge)
    body_.line("const dk_i32 above_{} = dk_bound_above({}, base_{});", address, constant, column);
}

// Bits behind those of the rows are any.
std::string SectionGenerator::packed_truth(int32_t address) const {
  const int32_t number = compared_column(address);
  const auto over = [&](const char* bound) {
    return fmt::format("dk_codes_over{}_u8(p{}, {}_{})", kernel_.rows_per_thread, number, bound, address);
  };
  const auto equal = [&] { return fmt::format("({} & ~{})", over("from"), over("above")); };
  switch (column_is(address)) {
    case Comparison::Ge: return over("from");
    case Comparison::Lt: return "~" + over("from");
    case Comparison::Gt: return over("above");
    case Comparison::Le: return "~" + over("above");
    case Comparison::Eq: return equal();
    default: return "~" + equal();
  }
}

}  // namespace diptych::gpu
