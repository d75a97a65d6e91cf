// Results made of columns as they are stored: the rows that pass the filter are numbered close together, and then each
// item fetches the columns of some of them. What did not pass costs nothing but the filter.
//
//   steps     the filter's columns -> masks of rows in shared memory, counted
//   place     the tile's rows before this team's (device/look_back.h)
//   batches   masks -> numbers of rows (device/pick.h) -> values of four rows an item -> the result
#include "engine/gpu/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

// Rows that an item fetches at once, so that it waits for all of them together.
constexpr int rows_at_once = 4;

void SectionGenerator::choose_gathering() {
  if (kernel_.sink != SectionKernel::Sink::Result || flow_.last_sink < 0) return;
  const Instruction& result = at(flow_.last_sink);
  gathers_ = true;
  for (int32_t number = result.p1; number < result.p1 + result.p2; ++number)
    gathers_ = gathers_ && column_of_output(number) >= 0;
}

// Number of the section's column that a register of the result holds as it is stored; -1: it is computed.
int32_t SectionGenerator::column_of_output(int32_t number) const {
  if (flow_.writers[static_cast<size_t>(number)] != 1) return -1;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    if (register_written(instruction) != number || instruction.opcode != Opcode::Column) continue;
    const auto column = static_cast<size_t>(instruction.p2);
    const ColumnShape& shape = shape_.of(column);
    const bool is_code = registers_[static_cast<size_t>(number)].form == Form::Code;
    // Strings of no tablets have the empty shape, which is that of numbers.
    const bool is_stored = info(number).physical != PhysicalType::Text &&
                           (shape.encoding == Encoding::FrameOfReference ||
                            (shape.encoding == Encoding::Plain && shape.physical == info(number).physical));
    return is_code || is_stored ? static_cast<int32_t>(shape_.index_of(column)) : -1;
  }
  return -1;
}

void SectionGenerator::write_masks() {
  declare("masks", fmt::format("DK_SHARED dk_u16 masks[{}];", most_steps * group_size));
  body_.line("masks[step * DK_GROUP_SIZE + DK_LOCAL_ID] = (dk_u16){};", sinking());
  body_.line("mine += DK_POPCOUNT_U32({});", sinking());
}

void SectionGenerator::write_gathering() {
  KernelWriter& out = body_;
  use_file("device/pick.h");
  declare("picked_rows", "DK_SHARED dk_u16 picked_rows[DK_PICK_ROWS * (DK_GROUP_SIZE / DK_TEAM_SIZE)];");
  declare("picked", "DK_LOCAL dk_u16* picked = picked_rows + DK_TEAM * DK_PICK_ROWS;");
  declare("capacity", fmt::format("const dk_u64 capacity = {};", word(Kind::Capacity)));
  write_steps();
  write_tiles_place();
  out.line("const dk_i64 rows_left = tablet_rows - start;");
  out.line("const dk_i64 steps_left = (rows_left + (DK_TEAM_SIZE * DK_ROWS - 1)) / (DK_TEAM_SIZE * DK_ROWS);");
  out.line("const dk_i32 steps_done = steps_left < steps ? (dk_i32)steps_left : steps;");
  out.open("for (dk_i32 step = 0; step < steps_done && all != 0; step += DK_PICK_STEPS) {{");
  out.line("const dk_u32 total = dk_pick_rows(masks, step, steps_done, picked, scratch);");
  out.line("const dk_u64 room = place < capacity ? capacity - place : 0;");
  out.line("const dk_u32 written = total < room ? total : (dk_u32)room;");
  out.line("const dk_i64 batch = start + (dk_i64)step * (DK_TEAM_SIZE * DK_ROWS);");
  out.open("for (dk_u32 i = (dk_u32)DK_LANE; i < written; i += {} * DK_TEAM_SIZE) {{", rows_at_once);
  out.line("dk_i64 row[{}];", rows_at_once);
  const std::string each = fmt::format("DK_UNROLL for (dk_i32 j = 0; j < {}; j++) ", rows_at_once);
  out.line("{}row[j] = batch + dk_picked_row(picked, i + (dk_u32)j * DK_TEAM_SIZE, written);", each);
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    const OutputColumn& column = kernel_.outputs[i];
    out.line("{} value_{}[{}];", word_type(column.width()), i, rows_at_once);
    if (column.nullable) out.line("dk_u8 known_{}[{}];", i, rows_at_once);
  }
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    out.open("{}{{", each);
    write_gathered_value(i);
    out.close();
  }
  out.open("{}{{", each);
  out.line("const dk_u32 number = i + (dk_u32)j * DK_TEAM_SIZE;");
  out.open("if (number < written) {{");
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_gathered_store(i);
  out.close();
  out.close();
  out.close();
  out.line("place += total;");
  out.line("DK_TEAM_BARRIER();");
  out.close();
}

void SectionGenerator::write_gathered_value(size_t number) {
  const OutputColumn& column = kernel_.outputs[number];
  const int32_t from = column.register_number;
  const auto source = static_cast<size_t>(column_of_output(from));
  const ColumnShape& shape = shape_.columns[source];
  const PhysicalType physical = info(from).physical;
  std::string value;
  if (shape.encoding == Encoding::Plain) {
    value = fmt::format("((DK_GLOBAL const {}*)data_{})[row[j]]", word_type(width_bytes(physical)), source);
  } else {
    std::string code = "0U";
    if (shape.width < 0)
      code = fmt::format("dk_code_at(data_{}, (dk_i32)tablet[{}], row[j])", source,
                         tablet_words + column_words * source + 4);
    else if (shape.width > 0)
      code = fmt::format("((DK_GLOBAL const dk_u{}*)data_{})[row[j]]", 8 * shape.width, source);
    const PhysicalType form = column.dictionary_column >= 0 ? PhysicalType::Int32 : physical;
    value = widened(decoded(shape, source, code, form), form == PhysicalType::Bool ? PhysicalType::Int64 : form,
                    column.dictionary_column >= 0 ? PhysicalType::Int32 : column.physical);
    if (column.width() <= 8) value = fmt::format("({})({})", word_type(column.width()), value);
  }
  body_.line("value_{}[j] = {};", number, value);
  if (!column.nullable) return;
  const size_t validity = tablet_words + column_words * source + 1;
  body_.line("known_{0}[j] = tablet[{1}] == 0 ? 1 : dk_row_is_known(DK_AT(const dk_u8, tablet[{1}]), row[j]);", number,
             validity);
}

void SectionGenerator::write_gathered_store(size_t number) {
  const OutputColumn& column = kernel_.outputs[number];
  const auto index = static_cast<int32_t>(number);
  body_.line("DK_AT({}, {})[place + number] = value_{}[j];", word_type(column.width()), word(Kind::Output, index),
             number);
  if (column.nullable)
    body_.line("DK_AT(dk_u8, {})[place + number] = known_{}[j];", word(Kind::OutputNulls, index), number);
}

}  // namespace diptych::gpu
