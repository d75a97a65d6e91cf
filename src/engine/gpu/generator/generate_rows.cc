// Opcodes that compute registers out of registers, and jumps.
#include "base/error.h"
#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

// ---- operands

std::string SectionGenerator::operand(int32_t number) {
  const Register& source = reg(number);
  switch (source.form) {
    case Form::Constant: return fmt::format("r{}", number);
    case Form::Truth: return fmt::format("(dk_bool)(t{} >> k & 1U)", number);
    case Form::Code: {
      const auto column = static_cast<int32_t>(source.column);
      return fmt::format("dk_string({0}, {0}_bytes, r{1}[k])", dictionary(column), number);
    }
    default: return fmt::format("r{}[k]", number);
  }
}

std::string SectionGenerator::known(int32_t number) {
  const Register& source = reg(number);
  if (source.form == Form::Constant) return source.is_null_constant ? "0U" : all_rows;
  if (source.never_null) return all_rows;
  return info(number).nullable ? fmt::format("v{}", number) : all_rows;
}

std::string SectionGenerator::both(const std::string& a, const std::string& b) {
  if (a == all_rows || a == b) return b;
  if (b == all_rows) return a;
  return a + " & " + b;
}

// Truth values as a mask; bits of rows where it is not known are any.
std::string SectionGenerator::truth(int32_t number) {
  if (reg(number).form == Form::Constant) return fmt::format("(r{} != 0 ? DK_ALL_ROWS : 0U)", number);
  return fmt::format("t{}", number);
}

// ---- storing

void SectionGenerator::assign(int32_t out, const std::string& value, const std::string& nulls) {
  if (flow_.writers[static_cast<size_t>(out)] > 1) {
    body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) r{}[k] = {};", out, value);
    if (info(out).nullable) body_.line("v{0} = (v{0} & ~active) | ({1} & active);", out, nulls);
    return;
  }
  // A row that is not there may have any code, which is no string's.
  if (info(out).physical == PhysicalType::Text)
    body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) r{}[k] = {};", out, value);
  else
    body_.line("DK_FOR_ROWS(k) r{}[k] = {};", out, value);
  store_nulls(out, nulls);
}

// Of a register that is written once.
void SectionGenerator::store_nulls(int32_t out, const std::string& nulls) {
  reg(out).never_null = nulls == all_rows;
  if (info(out).nullable && nulls != all_rows) body_.line("v{} = {};", out, nulls);
}

// Of one that other opcodes may write, too: in the rows that are here.
void SectionGenerator::store_nulls_here(int32_t out, const std::string& nulls) {
  if (flow_.writers[static_cast<size_t>(out)] == 1)
    store_nulls(out, nulls);
  else if (info(out).nullable)
    body_.line("v{0} = (v{0} & ~active) | ({1} & active);", out, nulls);
}

void SectionGenerator::assign_truth(int32_t out, const std::string& value, const std::string& nulls) {
  if (flow_.writers[static_cast<size_t>(out)] > 1) {
    body_.line("t{0} = (t{0} & ~active) | ({1} & active);", out, value);
    if (info(out).nullable) body_.line("v{0} = (v{0} & ~active) | ({1} & active);", out, nulls);
    return;
  }
  body_.line("t{} = {};", out, value);
  store_nulls(out, nulls);
}

// ---- dispatch

void SectionGenerator::write_instruction(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = register_written(instruction);
  const bool constant = out >= 0 && reg(out).form == Form::Constant;
  if (!constant) body_.line("// {} {}", address, info_of(instruction.opcode).name);
  switch (instruction.opcode) {
    case Opcode::Integer:
    case Opcode::Float:
    case Opcode::Constant:
    case Opcode::Null: return write_constant(address);
    case Opcode::Column:
    case Opcode::Code: return write_column(address);
    case Opcode::Rowid: return write_rowid(out);
    case Opcode::Lookup: return write_lookup(address);
    case Opcode::Matches: return write_matches(address);
    case Opcode::Fetch: return write_fetch(address);
    case Opcode::Move: return write_move(address);
    case Opcode::SetAnd:
    case Opcode::SetOr:
    case Opcode::SetNot:
    case Opcode::SetIsNull:
    case Opcode::SetIsTrue:
    case Opcode::SetIsFalse: return write_logic(address);
    case Opcode::SetIn: return write_in(address);
    case Opcode::Invalid: return write_invalid(address);
    default: break;
  }
  const OpcodeKind kind = info_of(instruction.opcode).kind;
  if (kind == OpcodeKind::Jump) return write_jump(address);
  if (kind == OpcodeKind::Sink) return write_sink(address);
  if (comparison_of(instruction.opcode)) return write_comparison(address);
  write_scalar(address);
}

// ---- scalar operations

namespace {

std::vector<int32_t> operands_of(const Program& program, const Instruction& instruction) {
  std::vector<int32_t> result;
  for_each_register_read(program, instruction, [&](int32_t number) { result.push_back(number); });
  return result;
}

}  // namespace

void SectionGenerator::write_scalar(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = register_written(instruction);
  std::string nulls = all_rows;
  for (int32_t number : operands_of(program_, instruction)) nulls = both(nulls, known(number));
  const ScalarText text = scalar_text(program_, instruction, [&](int32_t number) { return operand(number); });
  if (!text.unsupported.empty()) return refuse(text.unsupported);
  if (!text.write.empty()) return write_new_text(address, text, nulls);
  if (!text.raises && !text.is_costly) {
    if (info(out).physical == PhysicalType::Bool)
      return assign_truth(out, truth_of_rows(text, "active", address), nulls);
    return assign(out, text.value, nulls);
  }
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", nulls));
  if (info(out).physical == PhysicalType::Bool) {
    const std::string value = truth_of_rows(text, "live", address);
    assign_truth(out, value, nulls);
    return body_.close();
  }
  body_.open("DK_FOR_ROWS(k) {{");
  if (text.is_costly) body_.open("if ((live >> k & 1U) != 0) {{");
  if (text.raises) body_.line("dk_i32 error = 0;");
  const bool merges = flow_.writers[static_cast<size_t>(out)] > 1 && !text.is_costly;
  if (merges) body_.open("if ((active >> k & 1U) != 0) {{");
  body_.line("r{}[k] = {};", out, text.value);
  if (merges) body_.close();
  if (text.raises) body_.line("DK_NOTE_FAILURE(failure, error, live >> k & 1U, {});", address);
  if (text.is_costly) body_.close();
  body_.close();
  store_nulls_here(out, nulls);
  body_.close();
}

// Computes a truth value of every row into a mask `holds`, whose name it returns.
std::string SectionGenerator::truth_of_rows(const ScalarText& text, const std::string& live, int32_t address) {
  const std::string name = fmt::format("holds_{}", address);
  body_.line("dk_u32 {} = 0;", name);
  body_.open("DK_FOR_ROWS(k) {{");
  if (text.is_costly) body_.open("if (({} >> k & 1U) != 0) {{", live);
  if (text.raises) body_.line("dk_i32 error = 0;");
  body_.line("{} |= (dk_u32)({}) << k;", name, text.value);
  if (text.raises) body_.line("DK_NOTE_FAILURE(failure, error, {} >> k & 1U, {});", live, address);
  if (text.is_costly) body_.close();
  body_.close();
  return name;
}

void SectionGenerator::write_comparison(int32_t address) {
  const Instruction& instruction = at(address);
  if (compares_nulls(instruction.opcode)) return write_distinct(address);
  const std::string nulls = both(known(instruction.p2), known(instruction.p3));
  if (is_packed(address)) return assign_truth(instruction.p1, packed_truth(address), nulls);
  const ScalarText text = scalar_text(program_, instruction, [&](int32_t number) { return operand(number); });
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", nulls));
  assign_truth(instruction.p1, truth_of_rows(text, "live", address), nulls);
  body_.close();
}

void SectionGenerator::write_distinct(int32_t address) {
  const Instruction& instruction = at(address);
  const std::string a = known(instruction.p2), b = known(instruction.p3);
  const ScalarText text = scalar_text(program_, instruction, [&](int32_t number) { return operand(number); });
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", both(a, b)));
  const std::string holds = truth_of_rows(text, "live", address);
  const bool distinct = instruction.opcode == Opcode::SetDistinct;
  // Of two NULLs neither is distinct from the other; of one NULL and one value both are.
  const std::string value = distinct ? fmt::format("((({0}) & ({1}) & {2}) | (({0}) ^ ({1})))", a, b, holds)
                                     : fmt::format("((({0}) & ({1}) & {2}) | ~(({0}) | ({1})))", a, b, holds);
  assign_truth(instruction.p1, value, all_rows);
  body_.close();
}

void SectionGenerator::write_logic(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const std::string a_known = known(instruction.p2);
  switch (instruction.opcode) {
    case Opcode::SetIsNull: return assign_truth(out, fmt::format("~({})", a_known), all_rows);
    case Opcode::SetNot: return assign_truth(out, fmt::format("~{}", truth(instruction.p2)), a_known);
    case Opcode::SetIsTrue:
      return assign_truth(out, fmt::format("({} & {})", truth(instruction.p2), a_known), all_rows);
    case Opcode::SetIsFalse:
      return assign_truth(out, fmt::format("(~{} & {})", truth(instruction.p2), a_known), all_rows);
    default: break;
  }
  const std::string b_known = known(instruction.p3);
  const std::string a = fmt::format("({} & {})", truth(instruction.p2), a_known),
                    b = fmt::format("({} & {})", truth(instruction.p3), b_known),
                    not_a = fmt::format("(~{} & {})", truth(instruction.p2), a_known),
                    not_b = fmt::format("(~{} & {})", truth(instruction.p3), b_known);
  if (instruction.opcode == Opcode::SetAnd)
    assign_truth(out, fmt::format("({} & {})", a, b), fmt::format("(({} & {}) | {} | {})", a, b, not_a, not_b));
  else
    assign_truth(out, fmt::format("({} | {})", a, b), fmt::format("({} | {} | ({} & {}))", a, b, not_a, not_b));
}

void SectionGenerator::write_in(int32_t address) {
  const Instruction& instruction = at(address);
  const ValueSet& set = program_.sets[static_cast<size_t>(instruction.p3)];
  const std::string values = fmt::format("set_{}", instruction.p3);
  const PhysicalType form = set.physical;
  const bool is_text = form == PhysicalType::Text;
  if (width_bytes(info(instruction.p2).physical) > width_bytes(form)) return refuse("IN a list of narrower numbers");
  const char* element = is_text ? "dk_u32" : type_text(form);
  declare(values, fmt::format("DK_GLOBAL const {} * {} = DK_AT(const {}, {});", element, values, element,
                              word(Kind::SetValues, instruction.p3)));
  declare(values + "_count",
          fmt::format("const dk_i32 {}_count = (dk_i32){};", values, word(Kind::SetCount, instruction.p3)));
  ScalarText text;
  text.is_costly = true;
  const std::string value = widened(operand(instruction.p2), info(instruction.p2).physical, form);
  if (is_text) {
    declare(values + "_bytes", fmt::format("DK_GLOBAL const char* {}_bytes = DK_AT(const char, {});", values,
                                           word(Kind::SetBytes, instruction.p3)));
    text.value = fmt::format("dk_in_text({0}, {0}_bytes, {0}_count, {1})", values, value);
  } else {
    text.value = fmt::format("dk_in_{0}({1}, {1}_count, {2})", suffix_of(form), values, value);
  }
  use_file(is_text                          ? "device/strings.h"
           : form == PhysicalType::Interval ? "device/interval_set.h"
                                            : "device/value_set.h");
  const std::string nulls = known(instruction.p2);
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", nulls));
  const std::string holds = truth_of_rows(text, "live", address);
  assign_truth(instruction.p1, holds, set.has_null ? fmt::format("({} & {})", holds, nulls) : nulls);
  body_.close();
}

// Writes in the rows that are here, and in those only.
void SectionGenerator::write_move(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  if (reg(out).form == Form::Truth) return assign_truth(out, truth(instruction.p2), known(instruction.p2));
  const std::string value = widened(operand(instruction.p2), info(instruction.p2).physical, info(out).physical);
  assign(out, value, known(instruction.p2));
}

// ---- jumps

void SectionGenerator::write_jump(int32_t address) {
  const Instruction& instruction = at(address);
  const JumpEffect& effect = flow_.effect(address);
  const auto taken_where = [&](const std::string& holds, const std::string& is_known) {
    if (is_known == all_rows) return fmt::format("active & {}", holds);
    return effect.if_null ? fmt::format("active & ({} | ~({}))", holds, is_known)
                          : fmt::format("active & {} & {}", holds, is_known);
  };
  const int32_t a = instruction.p1, b = instruction.p2;
  body_.open("{{");
  std::string taken;
  switch (instruction.opcode) {
    case Opcode::Jump: taken = "active"; break;
    case Opcode::If: taken = taken_where(truth(a), known(a)); break;
    case Opcode::Not: taken = taken_where("~" + truth(a), known(a)); break;
    case Opcode::IfNull: taken = fmt::format("active & ~({})", known(a)); break;
    case Opcode::IfNotNull: taken = fmt::format("active & {}", known(a)); break;
    case Opcode::And:
    case Opcode::Or: {
      const std::string yes_a = fmt::format("({} & {})", truth(a), known(a)),
                        yes_b = fmt::format("({} & {})", truth(b), known(b)),
                        no_a = fmt::format("(~{} & {})", truth(a), known(a)),
                        no_b = fmt::format("(~{} & {})", truth(b), known(b));
      const bool is_and = instruction.opcode == Opcode::And;
      body_.line("const dk_u32 holds = {} {} {};", yes_a, is_and ? "&" : "|", yes_b);
      const std::string is_known =
          is_and ? fmt::format("(holds | {} | {})", no_a, no_b) : fmt::format("(holds | ({} & {}))", no_a, no_b);
      taken = taken_where("holds", is_known);
      break;
    }
    default: {
      const std::string is_known = both(known(a), known(b));
      if (is_packed(address)) {
        body_.line("const dk_u32 holds = {};", packed_truth(address));
        taken = taken_where("holds", is_known);
        break;
      }
      const ScalarText text = scalar_text(program_, instruction, [&](int32_t number) { return operand(number); });
      body_.line("const dk_u32 live = {};", both("active", is_known));
      taken = taken_where(truth_of_rows(text, "live", address), is_known);
    }
  }
  take_jump(address, taken);
  body_.close();
  body_.open("if (active != 0) {{");
}

void SectionGenerator::take_jump(int32_t address, const std::string& taken) {
  const JumpEffect& effect = flow_.effect(address);
  body_.line("const dk_u32 taken = {};", taken);
  body_.line("active &= ~taken;");
  if (effect.finishes) return;
  if (effect.makes_valid && flow_.tracks_validity) body_.line("valid |= taken;");
  if (effect.makes_invalid) body_.line("valid &= ~taken;");
  if (effect.target >= 0) body_.line("pending_{} |= taken;", effect.target);
}

void SectionGenerator::write_invalid(int32_t address) {
  if (flow_.effect(address).finishes) {
    body_.line("active = 0;");
  } else {
    body_.line("valid &= ~active;");
  }
}

}  // namespace diptych::gpu
