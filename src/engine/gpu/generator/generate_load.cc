// Opcodes that load registers: constants, columns, positions of rows, lookup tables.
#include "base/error.h"
#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

// ---- constants: words of the parameters, read at the head of the kernel

namespace {

bool is_null_load(const Instruction& instruction) {
  if (instruction.opcode == Opcode::Null) return true;
  const Value* value = std::get_if<Value>(&instruction.p4);
  return value != nullptr && value->is_null();
}

}  // namespace

void SectionGenerator::write_constant(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = register_written(instruction);
  const PhysicalType physical = info(out).physical;
  const bool is_null = is_null_load(instruction);
  const std::string low = word(Kind::Constant, address, 0);
  std::string value;
  switch (physical) {
    case PhysicalType::Bool: value = fmt::format("(dk_bool){}", low); break;
    case PhysicalType::Int32: value = fmt::format("(dk_i32)(dk_u32){}", low); break;
    case PhysicalType::Int64: value = fmt::format("(dk_i64){}", low); break;
    case PhysicalType::Float32: value = fmt::format("DK_F32_OF_BITS((dk_u32){})", low); break;
    case PhysicalType::Float64: value = fmt::format("DK_F64_OF_BITS({})", low); break;
    case PhysicalType::Int128:
      value = fmt::format("dk_make_i128((dk_i64){}, {})", word(Kind::Constant, address, 1), low);
      break;
    case PhysicalType::Interval:
      value = fmt::format("dk_interval_of_words({}, {})", low, word(Kind::Constant, address, 1));
      break;
    case PhysicalType::Text:
      value = fmt::format("dk_make_text(DK_AT(const char, {}), (dk_i32){})", low, word(Kind::Constant, address, 1));
      break;
  }
  if (physical == PhysicalType::Text) use_file("device/strings.h");
  if (reg(out).form == Form::Constant) {
    reg(out).is_null_constant = is_null;
    declare(fmt::format("r{}", out), fmt::format("const {} r{} = {};", type_text(physical), out, value));
    return;
  }
  const std::string nulls = is_null ? "0U" : all_rows;
  if (reg(out).form == Form::Truth) return assign_truth(out, fmt::format("({} != 0 ? DK_ALL_ROWS : 0U)", low), nulls);
  assign(out, value, nulls);
}

// ---- columns

std::string SectionGenerator::column_data(size_t index) { return fmt::format("data_{}", index); }

// Where jumps join, no row of an item need be there. Deeper than that is only what asks whether one is.
void SectionGenerator::write_column(int32_t address) {
  const bool is_guarded = body_.depth() > depth_;
  if (!is_guarded) body_.open("if (active != 0) {{");
  write_column_load(address);
  if (!is_guarded) body_.close();
}

void SectionGenerator::write_column_load(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const auto cursor_column = static_cast<size_t>(instruction.p2);
  const size_t index = shape_.index_of(cursor_column);
  const ColumnShape& column = shape_.columns[index];
  if (flow_.writers[static_cast<size_t>(out)] > 1) return refuse("a column loaded into a register that Moves write");
  if (info(out).nullable) {
    if (column.has_nulls && is_scattered_) {
      write_scattered_nulls(out, index);
    } else if (column.has_nulls) {
      body_.line("v{0} = dk_known_rows(DK_AT(const dk_u8, tablet[{1}]), tablet[{1}], first);", out,
                 tablet_words + column_words * index + 1);
    } else {
      reg(out).never_null = true;
    }
  }
  const PhysicalType physical = info(out).physical;
  // No tablet is there to say how the strings are kept: nobody reads them.
  if (physical == PhysicalType::Text && column.encoding == Encoding::FrameOfReference) return;
  switch (column.encoding) {
    case Encoding::FrameOfReference: return write_codes(column, index, out, physical);
    case Encoding::Plain: return write_plain(out, column, index);
    default: break;
  }
  if (column.encoding == Encoding::Dictionary && (instruction.opcode == Opcode::Code || reg(out).form == Form::Code))
    return write_codes(column, index, out, PhysicalType::Int32);
  write_text_column(out, column, index);
}

// The value of a code, in the form of a register.
std::string SectionGenerator::decoded(const ColumnShape& column, size_t index, const std::string& code,
                                      PhysicalType physical) const {
  const bool is_dictionary = column.encoding == Encoding::Dictionary;
  if (is_dictionary && column.width != 0) return fmt::format("(dk_i32)(dk_u32){}", code);
  const std::string factor = column.unit_factor || column.width == 0 ? "1" : fmt::format("factor_{}", index);
  if (physical == PhysicalType::Int32 && column.width >= 0 && column.width <= 4)
    return fmt::format("dk_decode_code_i32({}, (dk_i32)base_{}, (dk_i32){})", code, index, factor);
  const std::string value = fmt::format("dk_decode_code_i64({}, base_{}, {})", code, index, factor);
  if (physical == PhysicalType::Int128) return fmt::format("dk_widen_i64({})", value);
  return physical == PhysicalType::Int32 ? fmt::format("(dk_i32){}", value) : value;
}

// Codes of whole bytes into values: base + factor * code.
void SectionGenerator::write_codes(const ColumnShape& column, size_t index, int32_t out, PhysicalType physical) {
  const size_t at_word = tablet_words + column_words * index;
  const int rows = kernel_.rows_per_thread;
  const bool is_truth = physical == PhysicalType::Bool;
  if (is_scattered_) return write_scattered(column, index, out, physical);
  if (reg(out).form == Form::Packed)
    return body_.line("dk_load_words{}({} + first, p{});", rows / 4, column_data(index), out);
  body_.open("{{");
  if (column.width != 0) {
    const bool wide = column.width < 0 || column.width == 8;
    body_.line("{} codes[DK_ROWS];", wide ? "dk_u64" : "dk_u32");
    if (column.width < 0)
      body_.line("dk_load{}_codes({}, (dk_i32)tablet[{}], first, codes);", rows, column_data(index), at_word + 4);
    else
      body_.line("dk_load{}_u{}({}, first, codes);", rows, 8 * column.width, column_data(index));
  }
  const std::string value = decoded(column, index, column.width == 0 ? "0U" : "codes[k]", physical);
  if (is_truth) {
    body_.line("dk_u32 holds = 0;");
    body_.line("DK_FOR_ROWS(k) holds |= (dk_u32)(({}) != 0) << k;", value);
    body_.line("t{} = holds;", out);
  } else {
    body_.line("DK_FOR_ROWS(k) r{}[k] = {};", out, value);
  }
  body_.close();
}

// A plain value in the form of a register of another type; of a truth value, whether it holds.
std::string SectionGenerator::plain_as(const std::string& value, PhysicalType from, PhysicalType to) {
  if (to == PhysicalType::Bool) return value + " != 0";
  if (width_bytes(from) <= width_bytes(to)) return widened(value, from, to);
  return fmt::format("({}){}{}", type_text(to), value, from == PhysicalType::Int128 ? ".lo" : "");
}

// Values as they are in registers, though the register may be wider.
void SectionGenerator::write_plain(int32_t out, const ColumnShape& column, size_t index) {
  const PhysicalType from = column.physical, to = info(out).physical;
  const int rows = kernel_.rows_per_thread;
  if (from == PhysicalType::Text) return refuse("strings that a section before has made");
  if (is_scattered_) return write_scattered(column, index, out, to);
  if (from == to && to != PhysicalType::Bool) {
    body_.line("dk_load{}_{}({}, first, r{});", rows, suffix_of(from), column_data(index), out);
    return;
  }
  body_.open("{{");
  body_.line("{} values[DK_ROWS];", type_text(from));
  body_.line("dk_load{}_{}({}, first, values);", rows, suffix_of(from), column_data(index));
  if (to == PhysicalType::Bool) {
    body_.line("t{} = 0;", out);
    body_.line("DK_FOR_ROWS(k) t{} |= (dk_u32)({}) << k;", out, plain_as("values[k]", from, to));
  } else {
    body_.line("DK_FOR_ROWS(k) r{}[k] = {};", out, plain_as("values[k]", from, to));
  }
  body_.close();
}

void SectionGenerator::write_rowid(int32_t out) {
  assign(out, fmt::format("({})((dk_i64)tablet[2] + {})", type_text(info(out).physical), row_number()), all_rows);
}

// ---- lookup tables: an expression computed once for every entry of a dictionary

void SectionGenerator::write_lookup(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1, index = instruction.p3;
  const LookupTable& table = program_.lookups[static_cast<size_t>(index)];
  const std::string name = fmt::format("lookup_{}", index);
  const PhysicalType physical = table.entry.physical;
  const std::string number = operand(instruction.p2);
  const bool is_text = physical == PhysicalType::Text;
  const char* element = is_text ? "dk_u32" : type_text(physical);
  declare(name, fmt::format("DK_GLOBAL const {0}* {1} = DK_AT(const {0}, {2});", element, name,
                            word(Kind::LookupEntries, index)));
  declare(name + "_bytes",
          fmt::format("DK_GLOBAL const char* {}_bytes = DK_AT(const char, {});", name, word(Kind::LookupBytes, index)));
  if (is_text) use_file("device/strings.h");
  std::string nulls = known(instruction.p2);
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", nulls));
  bool entries_null = false;
  for (const Value& value : table.values) entries_null |= value.is_null();
  if (entries_null) {
    if (is_text) refuse("a lookup table of strings with NULLs");
    body_.line("dk_u32 there = 0;");
    body_.line("DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) there |= (dk_u32)({}_bytes[{}] != 0) << k;", name, number);
    nulls = both(nulls, "there");
  }
  const std::string value = is_text ? fmt::format("dk_string({0}, {0}_bytes, (dk_u32){1})", name, number)
                                    : fmt::format("{}[{}]", name, number);
  if (physical == PhysicalType::Bool) {
    body_.line("dk_u32 holds = 0;");
    body_.line("DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) holds |= (dk_u32)({} != 0) << k;", value);
    assign_truth(out, "holds", nulls);
  } else {
    body_.line("DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) r{}[k] = {};", out,
               widened(value, physical, info(out).physical));
    store_nulls(out, nulls);
  }
  body_.close();
}

}  // namespace diptych::gpu
