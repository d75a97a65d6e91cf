// Sinks: the rows of a result, and the aggregates of a section without groups.
#include "base/error.h"
#include "engine/gpu/aggregate_state.h"
#include "engine/gpu/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

void SectionGenerator::write_sink(int32_t address) {
  if (at(address).opcode == Opcode::Result) return write_result(address);
  if (at(address).opcode == Opcode::SortRow) return write_sort_row(address);
  if (at(address).opcode == Opcode::Group) return write_group(address);
  groups() ? write_group_aggregate(address) : write_aggregate(address);
}

// ---- Result: rows are put close together in shared memory and written from there, in the order of the tiles

namespace {

// Elements of so many bytes are written by the functions of this ending.
const char* word_of_width(int width) {
  switch (width) {
    case 1: return "u8";
    case 4: return "u32";
    case 8: return "u64";
    default: return "i128";
  }
}

const char* word_type(int width) {
  switch (width) {
    case 1: return "dk_u8";
    case 4: return "dk_u32";
    case 8: return "dk_u64";
    default: return "dk_i128";
  }
}

}  // namespace

void SectionGenerator::write_result(int32_t address) {
  const Instruction& instruction = at(address);
  use_file("device/team.h");
  int widest = 1;
  for (int32_t i = 0; i < instruction.p2; ++i) {
    OutputColumn column;
    column.register_number = instruction.p1 + i;
    column.physical = program_.result_columns[static_cast<size_t>(i)].type.physical();
    column.nullable = known(column.register_number) != all_rows;
    const Register& where = reg(column.register_number);
    if (where.form == Form::Code) column.dictionary_column = static_cast<int32_t>(where.column);
    widest = std::max(widest, column.width());
    kernel_.outputs.push_back(column);
  }
  if (gathers_) {
    declare("picked_rows", fmt::format("DK_SHARED dk_u16 picked_rows[{}];", kernel_.step_rows()));
    declare("picked", "DK_LOCAL dk_u16* picked = picked_rows + DK_TEAM * (DK_TEAM_SIZE * DK_ROWS);");
  } else {
    declare_stage(widest);
  }
  declare("capacity", fmt::format("const dk_u64 capacity = {};", word(Kind::Capacity)));
  body_.line("if (pass == 0) mine += DK_POPCOUNT_U32({});", sinking());
  body_.open("if (pass != 0) {{");
  body_.line("const dk_u32 rows = {};", sinking());
  body_.line("dk_u32 total;");
  body_.line("dk_u32 position = dk_team_scan_u32(DK_POPCOUNT_U32(rows), scratch, &total);");
  body_.open("if (total != 0) {{");
  if (gathers_) {
    write_gather();
  } else {
    for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_put(kernel_.outputs[i], i);
  }
  body_.close();
  body_.line("place += total;");
  body_.close();
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

// Where the result is made of columns as they are, the rows that passed are numbered close together, and then each item
// fetches the columns of one of them: what did not pass costs nothing.
void SectionGenerator::write_gather() {
  body_.line("DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) picked[position++] = (dk_u16)(DK_LANE * DK_ROWS + k);");
  body_.line("DK_TEAM_BARRIER();");
  body_.open("for (dk_u32 i = (dk_u32)DK_LANE; i < total; i += DK_TEAM_SIZE) {{");
  body_.line("const dk_i64 row = first - DK_LANE * DK_ROWS + picked[i];");
  body_.line("const dk_u64 to = place + i;");
  body_.line("if (to >= capacity) break;");
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_gathered(kernel_.outputs[i], i);
  body_.close();
  body_.line("DK_TEAM_BARRIER();");
}

void SectionGenerator::write_gathered(const OutputColumn& column, size_t number) {
  const int32_t from = column.register_number;
  const auto index = static_cast<int32_t>(number);
  const auto source = static_cast<size_t>(column_of_output(from));
  const ColumnShape& shape = shape_.columns[source];
  const PhysicalType physical = info(from).physical;
  std::string value;
  if (shape.encoding == Encoding::Plain) {
    value = fmt::format("((DK_GLOBAL const {}*)data_{})[row]", word_type(width_bytes(physical)), source);
  } else {
    std::string code = "0U";
    if (shape.width < 0)
      code =
          fmt::format("dk_code_at(data_{}, (dk_i32)tablet[{}], row)", source, tablet_words + column_words * source + 4);
    else if (shape.width > 0)
      code = fmt::format("((DK_GLOBAL const dk_u{}*)data_{})[row]", 8 * shape.width, source);
    const PhysicalType form = column.dictionary_column >= 0 ? PhysicalType::Int32 : physical;
    value = widened(decoded(shape, source, code, form), form == PhysicalType::Bool ? PhysicalType::Int64 : form,
                    column.dictionary_column >= 0 ? PhysicalType::Int32 : column.physical);
    if (column.width() <= 8) value = fmt::format("({})({})", word_type(column.width()), value);
  }
  body_.line("DK_AT({}, {})[to] = {};", word_type(column.width()), word(Kind::Output, index), value);
  if (!column.nullable) return;
  const size_t validity = tablet_words + column_words * source + 1;
  body_.line("DK_AT(dk_u8, {0})[to] = tablet[{1}] == 0 ? 1 : dk_row_is_known(DK_AT(const dk_u8, tablet[{1}]), row);",
             word(Kind::OutputNulls, index), validity);
}

void SectionGenerator::write_put(const OutputColumn& column, size_t number) {
  const int32_t from = column.register_number;
  const auto index = static_cast<int32_t>(number);
  const int width = column.width(), rows = kernel_.rows_per_thread;
  std::string value;
  if (column.dictionary_column >= 0)
    value = fmt::format("r{}[k]", from);
  else if (column.is_text_row())
    value = text_row(from);
  else
    value = widened(operand(from), info(from).physical, column.physical);
  if (column.physical == PhysicalType::Float32) value = fmt::format("DK_F32_BITS({})", value);
  if (column.physical == PhysicalType::Float64) value = fmt::format("DK_F64_BITS({})", value);
  if (column.physical == PhysicalType::Interval) value = fmt::format("dk_words_of_interval({})", value);
  if (width <= 8) value = fmt::format("({})({})", word_type(width), value);
  body_.open("{{");
  body_.line("{} values[DK_ROWS];", word_type(width));
  body_.line("DK_FOR_ROWS(k) values[k] = {};", value);
  body_.line(
      "dk_team_put{0}_{1}((DK_LOCAL {2}*)stage, rows, position, values, total, DK_AT({2}, {3}), place, capacity);",
      rows, word_of_width(width), word_type(width), word(Kind::Output, index));
  body_.close();
  if (!column.nullable) return;
  body_.open("{{");
  body_.line("dk_u8 values[DK_ROWS];");
  body_.line("const dk_u32 there = {};", known(from));
  body_.line("DK_FOR_ROWS(k) values[k] = (dk_u8)(there >> k & 1U);");
  body_.line(
      "dk_team_put{}_u8((DK_LOCAL dk_u8*)stage, rows, position, values, total, DK_AT(dk_u8, {}), place, capacity);",
      rows, word(Kind::OutputNulls, index));
  body_.close();
}

// ---- Aggregate without groups: each work-item keeps its own states, which its group adds up at the end

void SectionGenerator::declare_totals() {
  use_file("device/aggregate.h");
  const StatesLayout layout = layout_states(program_.hash_tables[static_cast<size_t>(kernel_.hash_table)]);
  if (!layout.unsupported.empty()) return refuse(layout.unsupported);
  kernel_.partial_words = layout.words;
  declare("rows_out", "dk_u64 rows_out = 0;");
  declare("came", "dk_u32 came = 0;  // two bits an aggregate: a value came, one was not finite");
  for (size_t i = 0; i < layout.aggregates.size(); ++i) {
    const std::string name = fmt::format("a{}", i);
    switch (layout.aggregates[i].kind) {
      case StateKind::Count:
      case StateKind::SumI64:
      case StateKind::Greatest: declare(name, fmt::format("dk_u64 {} = 0;", name)); break;
      case StateKind::Least: declare(name, fmt::format("dk_u64 {} = ~DK_U64(0);", name)); break;
      case StateKind::SumI128:
      case StateKind::Sum192: declare(name, fmt::format("dk_sum192 {} = dk_sum192_of_i64(0);", name)); break;
      case StateKind::SumF64: declare(name, fmt::format("dk_f64 {} = 0;", name)); break;
      case StateKind::LeastI128: declare(name, fmt::format("dk_i128 {} = DK_MOST_I128;", name)); break;
      case StateKind::GreatestI128: declare(name, fmt::format("dk_i128 {} = DK_LEAST_I128;", name)); break;
      case StateKind::Moments: declare(name, fmt::format("dk_moments {} = dk_no_moments();", name)); break;
    }
  }
}

void SectionGenerator::write_aggregate(int32_t address) {
  const Instruction& instruction = at(address);
  const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(instruction.p1)];
  const StatesLayout layout = layout_states(table);
  if (!layout.unsupported.empty()) return refuse(layout.unsupported);
  const int32_t argument = instruction.p2;
  const std::string name = fmt::format("a{}", number);
  body_.open("{{");
  body_.line("const dk_u32 rows = {};", argument >= 0 ? both(sinking(), known(argument)) : sinking());
  if (address == flow_.last_sink) body_.line("rows_out += DK_POPCOUNT_U32({});", sinking());
  if (layout.aggregates[number].kind == StateKind::Count) {
    body_.line("{} += DK_POPCOUNT_U32(rows);", name);
    return body_.close();
  }
  body_.line("if (rows != 0) came |= {}U;", came_bit(number));
  write_update(address, layout.aggregates[number].kind, table.aggregates[number].state == AggregateState::SumSquares,
               name);
  body_.close();
}

// Takes the argument of each of `rows` into the state.
void SectionGenerator::write_update(int32_t address, StateKind kind, bool squares, const std::string& name) {
  const int32_t argument = at(address).p2;
  const PhysicalType physical = info(argument).physical;
  const auto number = static_cast<size_t>(std::get<int64_t>(at(address).p4));
  const std::string value = operand(argument);
  const std::string each = "DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) ";
  const std::string wide = widened(value, physical, PhysicalType::Int128);
  const std::string real = widened(value, physical, PhysicalType::Float64);
  const bool is_real = physical == PhysicalType::Float32 || physical == PhysicalType::Float64;
  const std::string key =
      is_real ? fmt::format("dk_key_f64({})", real) : fmt::format("dk_key_i64((dk_i64)({}))", value);
  switch (kind) {
    case StateKind::Count: return;
    case StateKind::SumI64: return body_.line("{}{} += (dk_u64)(dk_i64)({});", each, name, value);
    case StateKind::SumF64:
      body_.open("{}{{", each);
      body_.line("{} += {};", name, real);
      body_.line("if (!dk_is_finite_f64({})) came |= {}U;", real, not_finite_bit(number));
      return body_.close();
    case StateKind::SumI128:
      // The rows of a work-item are added in fewer limbs first.
      if (physical == PhysicalType::Int32) {
        body_.line("dk_i64 part = 0;");
        body_.line("{}part += (dk_i64)({});", each, value);
        return body_.line("{0} = dk_add_sum192({0}, dk_sum192_of_i64(part));", name);
      }
      body_.line("dk_i128 part = dk_widen_i64(0);");
      body_.line("{}part = dk_add_unchecked_i128(part, {});", each, wide);
      return body_.line("{0} = dk_add_sum192({0}, dk_sum192_of_i128(part));", name);
    case StateKind::Sum192:
      if (!squares) return body_.line("{0}{1} = dk_add_sum192({1}, dk_sum192_of_i128({2}));", each, name, wide);
      body_.open("{}{{", each);
      body_.line("dk_i32 error = 0;");
      body_.line("{0} = dk_add_sum192({0}, dk_sum192_of_i128(dk_square_i128({1}, &error)));", name, wide);
      body_.line("DK_NOTE_FAILURE(failure, error, 1, {});", address);
      return body_.close();
    case StateKind::Least: return body_.line("{0}{1} = dk_least_key({1}, {2});", each, name, key);
    case StateKind::Greatest: return body_.line("{0}{1} = dk_greatest_key({1}, {2});", each, name, key);
    case StateKind::LeastI128: return body_.line("{0}if (dk_lt_i128({2}, {1})) {1} = {2};", each, name, wide);
    case StateKind::GreatestI128: return body_.line("{0}if (dk_lt_i128({1}, {2})) {1} = {2};", each, name, wide);
    case StateKind::Moments:
      body_.open("{}{{", each);
      body_.line("{0} = dk_add_moments({0}, dk_moments_of({1}));", name, real);
      body_.line("if (!dk_is_finite_f64({})) came |= {}U;", real, not_finite_bit(number));
      return body_.close();
  }
}

void SectionGenerator::write_totals_end() {
  const StatesLayout layout = layout_states(program_.hash_tables[static_cast<size_t>(kernel_.hash_table)]);
  KernelWriter& out = body_;
  out.line("DK_GLOBAL dk_u64* partial = DK_AT(dk_u64, {}) + (dk_i64)DK_GROUP_ID * {};", word(Kind::Partials),
           layout.words);
  out.line("came = dk_block_or_u32(came, scratch);");
  out.line("rows_out = dk_block_sum_u64(rows_out, scratch);");
  for (size_t i = 0; i < layout.aggregates.size(); ++i) {
    const char* reduce = nullptr;
    switch (layout.aggregates[i].kind) {
      case StateKind::Count:
      case StateKind::SumI64: reduce = "sum_u64"; break;
      case StateKind::SumI128:
      case StateKind::Sum192: reduce = "sum192"; break;
      case StateKind::SumF64: reduce = "sum_f64"; break;
      case StateKind::Least: reduce = "min_u64"; break;
      case StateKind::Greatest: reduce = "max_u64"; break;
      case StateKind::LeastI128: reduce = "min_i128"; break;
      case StateKind::GreatestI128: reduce = "max_i128"; break;
      case StateKind::Moments: reduce = "moments"; break;
    }
    out.line("a{0} = dk_block_{1}(a{0}, scratch);", i, reduce);
  }
  out.open("if (DK_LOCAL_ID == 0) {{");
  out.line("dk_atomic_add_global_u64(control + 1, rows_out);");
  out.line("partial[0] = came;");
  for (size_t i = 0; i < layout.aggregates.size(); ++i) {
    const size_t first = layout.aggregates[i].first_word;
    switch (layout.aggregates[i].kind) {
      case StateKind::SumF64: out.line("partial[{}] = DK_F64_BITS(a{});", first, i); break;
      case StateKind::SumI128: out.line("partial[{0}] = a{2}.lo, partial[{1}] = a{2}.mid;", first, first + 1, i); break;
      case StateKind::Sum192:
        out.line("partial[{0}] = a{3}.lo, partial[{1}] = a{3}.mid, partial[{2}] = a{3}.hi;", first, first + 1,
                 first + 2, i);
        break;
      case StateKind::LeastI128:
      case StateKind::GreatestI128:
        out.line("partial[{0}] = a{2}.lo, partial[{1}] = (dk_u64)a{2}.hi;", first, first + 1, i);
        break;
      case StateKind::Moments:
        out.line("partial[{}] = DK_F64_BITS(a{}.count);", first, i);
        out.line("partial[{}] = DK_F64_BITS(a{}.sum);", first + 1, i);
        out.line("partial[{}] = DK_F64_BITS(a{}.squares);", first + 2, i);
        break;
      default: out.line("partial[{}] = a{};", first, i);
    }
  }
  out.close();
}

}  // namespace diptych::gpu
