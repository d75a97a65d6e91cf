// Sinks: the rows of a result, and the aggregates of a section without groups.
#include "base/error.h"
#include "engine/gpu/generator/aggregate_state.h"
#include "engine/gpu/generator/section_generator.h"
#include "engine/gpu/groups/state_text.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

void SectionGenerator::write_sink(int32_t address) {
  if (at(address).opcode == Opcode::Result) return write_result(address);
  if (at(address).opcode == Opcode::Append) return write_append(address);
  if (at(address).opcode == Opcode::Group) return write_group(address);
  at(address).p1 == totals_ ? write_aggregate(address) : write_group_aggregate(address);
}

// ---- Result: rows are put close together in shared memory and written from there, in the order of the tiles

// Elements of so many bytes are written by the functions of this ending.
const char* word_ending(int width) {
  switch (width) {
    case 1: return "u8";
    case 4: return "u32";
    case 8: return "u64";
    default: return "i128";
  }
}

std::string word_type(int width) { return std::string("dk_") + word_ending(width); }

void SectionGenerator::add_output(int32_t number, PhysicalType physical) {
  OutputColumn column;
  column.register_number = number;
  column.physical = physical;
  column.nullable = known(number) != all_rows;
  if (reg(number).form == Form::Code) column.dictionary_column = static_cast<int32_t>(reg(number).column);
  kernel_.outputs.push_back(column);
}

void SectionGenerator::write_result(int32_t address) {
  const Instruction& instruction = at(address);
  for (int32_t i = 0; i < instruction.p2; ++i)
    add_output(instruction.p1 + i, program_.result_columns[static_cast<size_t>(i)].type.physical());
  if (gathers_) return write_masks();
  open_rows(1);
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_put(kernel_.outputs[i], i);
  close_rows();
}

// Counts the rows of the step in the first pass. In the second, inside of what it opens, `rows` is the mask of an
// item's rows, `position` how many rows are before them in the step, `total` how many there are, `place` where in the
// output they start. least: the bytes of an element that the stage has to hold at least.
void SectionGenerator::open_rows(int least) {
  int widest = least;
  for (const OutputColumn& column : kernel_.outputs) widest = std::max(widest, column.width());
  use_stage(widest);
  declare("capacity", fmt::format("const dk_u64 capacity = {};", word(Kind::Capacity)));
  body_.line("if (pass == 0) mine += DK_POPCOUNT_U32({});", sinking());
  body_.open("if (pass != 0) {{");
  body_.line("const dk_u32 rows = {};", sinking());
  body_.line("dk_u32 total;");
  body_.line("const dk_u32 position = dk_team_scan_u32(DK_POPCOUNT_U32(rows), scratch, &total);");
  body_.open("if (total != 0) {{");
}

void SectionGenerator::close_rows() {
  body_.close();
  body_.line("place += total;");
  body_.close();
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
      rows, word_ending(width), word_type(width), word(Kind::Output, index));
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

// ---- Aggregate without groups: each work-item keeps its own states, which its group adds up at the end. So do those
// beside groups, where strings or intervals are compared: numbered groups have no states of these.

void SectionGenerator::declare_totals() {
  use_file("device/aggregate.h");
  const StatesLayout layout = layout_states(program_.hash_tables[static_cast<size_t>(totals_)], true);
  kernel_.hash_table = totals_;
  kernel_.partial_words = layout.words;
  declare("rows_out", "dk_u64 rows_out = 0;");
  // Two bits an aggregate: a value came, one was not finite.
  for (size_t i = 0; i < 2 * layout.note_words; ++i)
    declare(fmt::format("notes_{}", i), fmt::format("dk_u32 notes_{} = 0;", i));
  for (size_t i = 0; i < layout.parts.size(); ++i) {
    const std::string name = fmt::format("a{}", i);
    switch (layout.parts[i].kind) {
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
      case StateKind::Extreme:
        // One of the group's, with a lock.
        use_file("device/group_extremes.h");
        declare(name, fmt::format("DK_SHARED dk_u64 {}[{}];", name, layout.parts[i].words + 1));
        declare(name + "_cleared",
                fmt::format("if (DK_LOCAL_ID < {1}) {0}[DK_LOCAL_ID] = 0;", name, layout.parts[i].words + 1));
        break;
      case StateKind::Exact: break;  // never a part
    }
  }
  declare("cleared", "DK_BARRIER();");
}

void SectionGenerator::write_aggregate(int32_t address) {
  const Instruction& instruction = at(address);
  const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(instruction.p1)];
  const StatesLayout layout = layout_states(table, true);
  const int32_t argument = instruction.p2;
  const StateLayout& state = layout.aggregates[number];
  const std::string name = fmt::format("a{}", state.first_part);
  std::string rows = argument >= 0 ? both(sinking(), known(argument)) : sinking();
  if (is_partitioned()) rows = both(rows, second_pass);
  body_.open("{{");
  body_.line("const dk_u32 rows = {};", rows);
  if (address == flow_.last_sink) body_.line("rows_out += DK_POPCOUNT_U32({});", sinking());
  if (state.kind == StateKind::Count) {
    body_.line("{} += DK_POPCOUNT_U32(rows);", name);
    return body_.close();
  }
  if (state.kind == StateKind::Exact) {
    if (!state.is_repeated) write_exact(argument, layout, state);
    return body_.close();
  }
  body_.line("if (rows != 0) notes_{} |= {}U;", note_index(number), came_bit(number));
  if (state.kind == StateKind::Extreme) {
    write_extreme(argument, state, name);
    return body_.close();
  }
  write_update(address, state.kind, table.aggregates[number].state == AggregateState::SumSquares, name);
  body_.close();
}

// The same, of a string or an interval, into the state of the work-group.
void SectionGenerator::write_extreme(int32_t argument, const StateLayout& state, const std::string& name) {
  const int least = state.is_least ? 1 : 0;
  const std::string lock = fmt::format("(DK_LOCAL dk_u32*)({} + {})", name, state.words);
  body_.open("DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) {{");
  if (info(argument).physical == PhysicalType::Text) {
    body_.line("dk_locked_raise_local_text(DK_SPACES_ARG, {}, {}, {}, {});", lock, name, operand(argument), least);
  } else {
    body_.line("const dk_interval interval = {};", operand(argument));
    body_.line("dk_u64 words[{}];", state.words);
    body_.line("dk_interval_state(interval, dk_span_of_interval(interval), tablet[2] + (dk_u64){}, {}, words);",
               row_number(), least);
    body_.line("dk_locked_raise_local_interval({}, {}, words);", lock, name);
  }
  body_.close();
}

// Takes the argument of each of `rows` into the parts of the state.
void SectionGenerator::write_exact(int32_t argument, const StatesLayout& layout, const StateLayout& state) {
  body_.line("a{} += DK_POPCOUNT_U32(rows);", state.first_part);
  body_.open("DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) {{");
  const PhysicalType physical = info(argument).physical;
  body_.line("const {} value = {};", type_text(physical), operand(argument));
  for (size_t i = 1; i < state.part_count; ++i) {
    const StateKind kind = layout.parts[state.first_part + i].kind;
    const std::string name = fmt::format("a{}", state.first_part + i),
                      addend = exact_addend(i, kind, physical, "value");
    if (kind == StateKind::SumI64)
      body_.line("{} += {};", name, addend);
    else if (kind == StateKind::SumI128)
      body_.line("{0} = dk_add_sum192({0}, dk_sum192_of_i128({1}));", name, addend);
    else
      body_.line("{0} = dk_add_sum192({0}, {1});", name, addend);
  }
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
    case StateKind::Exact:
    case StateKind::Extreme:
    case StateKind::Count: return;
    case StateKind::SumI64: return body_.line("{}{} += (dk_u64)(dk_i64)({});", each, name, value);
    case StateKind::SumF64:
      body_.open("{}{{", each);
      body_.line("{} += {};", name, real);
      body_.line("if (!dk_is_finite_f64({})) notes_{} |= {}U;", real, note_index(number), not_finite_bit(number));
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
      body_.line("if (!dk_is_finite_f64({})) notes_{} |= {}U;", real, note_index(number), not_finite_bit(number));
      return body_.close();
  }
}

void SectionGenerator::write_totals_end() {
  const StatesLayout layout = layout_states(program_.hash_tables[static_cast<size_t>(totals_)], true);
  KernelWriter& out = body_;
  out.line("DK_GLOBAL dk_u64* partial = DK_AT(dk_u64, {}) + (dk_i64){} * {};", word(Kind::Partials), grid_group(),
           layout.words);
  for (size_t i = 0; i < layout.note_words; ++i)
    out.line("const dk_u64 notes{0} = dk_block_or_u64(notes_{1} | (dk_u64)notes_{2} << 32, scratch);", i, 2 * i,
             2 * i + 1);
  if (!groups()) out.line("rows_out = dk_block_sum_u64(rows_out, scratch);");
  for (size_t i = 0; i < layout.parts.size(); ++i) {
    const char* reduce = nullptr;
    switch (layout.parts[i].kind) {
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
      case StateKind::Extreme: continue;  // of the group already
      case StateKind::Exact: continue;    // never a part
    }
    out.line("a{0} = dk_block_{1}(a{0}, scratch);", i, reduce);
  }
  out.open("if (DK_LOCAL_ID == 0) {{");
  if (!groups()) out.line("dk_atomic_add_global_u64(control + 1, rows_out);");
  for (size_t i = 0; i < layout.note_words; ++i) out.line("partial[{0}] = notes{0};", i);
  for (size_t i = 0; i < layout.parts.size(); ++i) {
    const size_t first = layout.parts[i].first_word;
    switch (layout.parts[i].kind) {
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
      case StateKind::Extreme:
        for (size_t word = 0; word < layout.parts[i].words; ++word)
          out.line("partial[{}] = a{}[{}];", first + word, i, word);
        break;
      default: out.line("partial[{}] = a{};", first, i);
    }
  }
  out.close();
}

}  // namespace diptych::gpu
