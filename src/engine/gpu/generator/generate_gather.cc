// Results made of columns as they are stored: the rows that pass the filter are numbered close together, and then each
// item fetches the columns of some of them. What did not pass costs nothing but the filter.
//
//   steps     the filter's columns -> masks of rows in shared memory, counted; the numbers of the first rows that pass,
//             and their codes in the filter's columns, are kept there too (where there are warps), until it is full:
//             fetched again, those columns come from device memory once more
//   place     the tile's rows before this team's (device/look_back.h)
//   kept      -> values of four rows an item -> the result
//   batches   of the other steps: masks -> numbers of rows (device/pick.h) -> the same
#include <algorithm>

#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

// Rows that an item fetches at once, so that it waits for all of them together.
constexpr int rows_at_once = 4;

// Of a team of a warp, for the rows that it keeps: four groups leave the first cache of a unit some 90 KiB.
constexpr int kept_bytes = 3584;

namespace {

// Of codes, and of plain values, of so many bytes.
std::string code_type(int width) { return fmt::format("dk_u{}", 8 * width); }

}  // namespace

void SectionGenerator::choose_gathering() {
  if (kernel_.sink != SectionKernel::Sink::Result || flow_.last_sink < 0 || repeats()) return;
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

// The columns of the section that the result has and the filter has read.
void SectionGenerator::find_kept_columns() {
  const Instruction& result = at(flow_.last_sink);
  for (int32_t number = result.p1; number < result.p1 + result.p2; ++number) {
    const auto column = static_cast<size_t>(column_of_output(number));
    const int width = shape_.columns[column].width;
    if (width < 1 || width > 8 || std::ranges::find(kept_columns_, column) != kept_columns_.end()) continue;
    bool is_read = false;
    for (int32_t address = flow_.first; address < flow_.end && !is_read; ++address)
      is_read = is_filter_column(address) && shape_.index_of(static_cast<size_t>(at(address).p2)) == column;
    if (is_read) kept_columns_.push_back(column);
  }
}

// Numbers of rows, then codes column by column; what picks rows has the same memory later.
void SectionGenerator::declare_kept_rows() {
  const std::string bytes = fmt::format("(2 * DK_PICK_ROWS > {0} ? 2 * DK_PICK_ROWS : {0})", kept_bytes);
  declare("room", fmt::format("DK_SHARED DK_ALIGN16 dk_u8 room[{} * (DK_GROUP_SIZE / DK_TEAM_SIZE)];", bytes));
  declare("kept", fmt::format("DK_LOCAL dk_u8* kept = room + DK_TEAM * {};", bytes));
  declare("picked", "DK_LOCAL dk_u16* picked = (DK_LOCAL dk_u16*)kept;");
  int row_bytes = 2;
  for (size_t column : kept_columns_) row_bytes += shape_.columns[column].width;
  kept_rows_ = kept_bytes / row_bytes / 16 * 16;
  int offset = 2 * kept_rows_;
  for (size_t column : kept_columns_) {
    const int width = shape_.columns[column].width;
    declare(fmt::format("kept_{}", column),
            fmt::format("DK_LOCAL {0}* kept_{1} = (DK_LOCAL {0}*)(kept + {2});", code_type(width), column, offset));
    offset += width * kept_rows_;
  }
}

void SectionGenerator::write_masks() {
  KernelWriter& out = body_;
  declare("masks", fmt::format("DK_SHARED dk_u16 masks[{}];", most_steps * group_size));
  out.line("masks[step * DK_GROUP_SIZE + DK_LOCAL_ID] = (dk_u16){};", sinking());
  out.line("mine += DK_POPCOUNT_U32({});", sinking());
  if (kept_columns_.empty()) return;
  out.open("if (DK_HAS_SHUFFLE && kept_steps == step) {{");
  out.line("dk_u32 more;");
  out.line("dk_u32 at = kept_count + dk_team_scan_u32(DK_POPCOUNT_U32({}), scratch, &more);", sinking());
  out.open("if (kept_count + more <= {}U) {{", kept_rows_);
  out.open("for (dk_u32 rows = {}; rows != 0; rows &= rows - 1) {{", sinking());
  out.line("const dk_i32 row = first + (dk_i32)DK_CTZ_U32(rows);");
  out.line("picked[at] = (dk_u16)(row - start);");
  for (size_t column : kept_columns_) out.line("kept_{}[at] = {};", column, stored_code(column, "row"));
  out.line("at++;");
  out.close();
  out.line("kept_count += more;");
  out.line("kept_steps++;");
  out.close();
  out.close();
}

void SectionGenerator::write_gathering() {
  KernelWriter& out = body_;
  use_file("device/pick.h");
  find_kept_columns();
  declare_kept_rows();
  declare("capacity", fmt::format("const dk_u64 capacity = {};", word(Kind::Capacity)));
  declare("line_mask", fmt::format("const dk_u32 line_mask = (dk_u32){};", word(Kind::LineMask)));
  if (!kept_columns_.empty()) {
    out.line("dk_u32 kept_count = 0;");
    out.line("dk_i32 kept_steps = 0;");
  }
  write_steps();
  write_tiles_place();
  if (!kept_columns_.empty()) {
    out.open("if (DK_HAS_SHUFFLE) {{");
    out.line("DK_TEAM_BARRIER();");
    write_gathered_rows("kept_count", "start", true);
    out.close();
  }
  out.line("const dk_i32 rows_left = tablet_rows - start;");
  out.line("const dk_i32 steps_left = (rows_left + (DK_TEAM_SIZE * DK_ROWS - 1)) / (DK_TEAM_SIZE * DK_ROWS);");
  out.line("const dk_i32 steps_done = steps_left < steps ? steps_left : steps;");
  out.open("for (dk_i32 step = {}; step < steps_done && all != 0; step += DK_PICK_STEPS) {{",
           kept_columns_.empty() ? "0" : "kept_steps");
  out.line("const dk_u32 total = dk_pick_rows(masks, step, steps_done, picked, scratch);");
  out.line("const dk_i32 batch = start + step * (DK_TEAM_SIZE * DK_ROWS);");
  write_gathered_rows("total", "batch", false);
  out.close();
}

// Writes `count` rows whose numbers, from `base` on, were picked.
void SectionGenerator::write_gathered_rows(const std::string& count, const std::string& base, bool kept) {
  KernelWriter& out = body_;
  out.line("const dk_u64 room_left = place < capacity ? capacity - place : 0;");
  out.line("const dk_u32 written = {0} < room_left ? {0} : (dk_u32)room_left;", count);
  // A warp's stores fill whole lines.
  out.line("const dk_u32 skew = (dk_u32)place & line_mask;");
  out.open("for (dk_u32 i = (dk_u32)DK_LANE; written != 0 && i < written + skew; i += {} * DK_TEAM_SIZE) {{",
           rows_at_once);
  const std::string each = fmt::format("DK_UNROLL for (dk_i32 j = 0; j < {}; j++) ", rows_at_once);
  out.line("dk_u32 at[{}];", rows_at_once);
  out.line("dk_i32 row[{}];", rows_at_once);
  out.open("{}{{", each);
  out.line("at[j] = i + (dk_u32)j * DK_TEAM_SIZE - skew;");
  out.line("if (at[j] >= written) at[j] = written - 1;");
  out.line("row[j] = {} + picked[at[j]];", base);
  out.close();
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    const OutputColumn& column = kernel_.outputs[i];
    out.line("{} value_{}[{}];", word_type(column.width()), i, rows_at_once);
    if (column.nullable) out.line("dk_u8 known_{}[{}];", i, rows_at_once);
  }
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) {
    out.open("{}{{", each);
    write_gathered_value(i, kept);
    out.close();
  }
  out.open("{}{{", each);
  out.line("const dk_u32 number = i + (dk_u32)j * DK_TEAM_SIZE - skew;");
  out.open("if (number < written) {{");
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_gathered_store(i);
  out.close();
  out.close();
  out.close();
  out.line("place += {};", count);
  out.line("DK_TEAM_BARRIER();");
}

// The code, or the plain value, of a row of a column as it is stored.
std::string SectionGenerator::stored_code(size_t column, const std::string& row) const {
  const ColumnShape& shape = shape_.columns[column];
  if (shape.encoding == Encoding::Plain)
    return fmt::format("((DK_GLOBAL const {}*)data_{})[{}]", word_type(width_bytes(shape.physical)), column, row);
  if (shape.width < 0)
    return fmt::format("dk_code_at(data_{}, (dk_i32)tablet[{}], {})", column, tablet_words + column_words * column + 4,
                       row);
  if (shape.width == 0) return "0U";
  return fmt::format("((DK_GLOBAL const {}*)data_{})[{}]", code_type(shape.width), column, row);
}

void SectionGenerator::write_gathered_value(size_t number, bool kept) {
  const OutputColumn& column = kernel_.outputs[number];
  const int32_t from = column.register_number;
  const auto source = static_cast<size_t>(column_of_output(from));
  const ColumnShape& shape = shape_.columns[source];
  const bool is_kept = kept && std::ranges::find(kept_columns_, source) != kept_columns_.end();
  std::string value = is_kept ? fmt::format("kept_{}[at[j]]", source) : stored_code(source, "row[j]");
  if (shape.encoding != Encoding::Plain) {
    const PhysicalType form = column.dictionary_column >= 0 ? PhysicalType::Int32 : info(from).physical;
    value = widened(decoded(shape, source, value, form), form == PhysicalType::Bool ? PhysicalType::Int64 : form,
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
