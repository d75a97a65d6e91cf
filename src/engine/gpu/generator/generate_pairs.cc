// Rows that meet several of an index each. What is behind such a Matches stands in a loop over the pairs of a team's
// rows with the rows that they meet (device/pairs.h). Every work-item has DK_ROWS pairs a turn, however unevenly rows
// share them; in the order of the rows where the sink wants these in order, else neighbours have pairs that follow each
// other:
//
//   met_7, first_7[k], count_7[k]   rows that have found their key; where their matches are among the rows by key
//   skip_7                          how many of a row's are through: a row has so many at a time, and then the next
//   turn_7                          pairs of the team that are through
//   from_7[k]                       the row of pair k among those of the team
//   row[k]                          ... and in the tablet
//
// Inside of the loop k counts pairs. Registers that are read there move from the items that have the row to those that
// have its pairs, under the same names; columns are loaded where the pair's row is.
#include <algorithm>

#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {
using Kind = KernelParameter::Kind;

namespace {

// Of shared memory, for what a kernel declares beside the functions of a group: every device has 48 KiB, of which
// these take 8 at most.
constexpr size_t most_shared_bytes = 38 << 10;

// For the pairs of one Matches: starts and rows.
constexpr size_t line_bytes = 6;

// What items leave for each other has at most so many bytes at a time.
constexpr int most_moved_bytes = 8;

}  // namespace

std::vector<SectionGenerator::ElementPart> SectionGenerator::parts_of(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Int128: return {{"dk_u64", 8, ".lo", "_lo"}, {"dk_i64", 8, ".hi", "_hi"}};
    case PhysicalType::Interval:
      return {{"dk_i32", 4, ".months", "_months"},
              {"dk_i32", 4, ".days", "_days"},
              {"dk_i64", 8, ".microseconds", "_rest"}};
    case PhysicalType::Text:
      return {{"DK_GLOBAL const char*", 8, ".data", "_data"}, {"dk_i32", 4, ".length", "_length"}};
    default: return {{type_text(physical), static_cast<size_t>(width_bytes(physical))}};
  }
}

bool SectionGenerator::meets_several(int32_t address) const {
  if (at(address).opcode != Opcode::Matches) return false;
  const IndexShape* shape = shape_.built(at(address).p3);
  return shape != nullptr && !shape->is_unique;
}

void SectionGenerator::find_pairs() {
  first_pairs_ = flow_.end;
  for (int32_t address = flow_.end - 1; address >= flow_.first; --address) {
    if (!meets_several(address)) continue;
    first_pairs_ = address;
    last_pairs_ = std::max(last_pairs_, address);
  }
}

// Whether the sink takes every pair that there is.
bool SectionGenerator::all_pairs_reach_sink(int32_t address) const {
  for (int32_t next = address + 1; next < flow_.end; ++next) {
    const Opcode opcode = at(next).opcode;
    if (info_of(opcode).kind == OpcodeKind::Jump || opcode == Opcode::Invalid || opcode == Opcode::Matches)
      return false;
  }
  return true;
}

// Those that are written before the address and read behind it.
std::vector<int32_t> SectionGenerator::registers_across(int32_t address) const {
  std::vector<bool> is_written(registers_.size(), false), is_read(registers_.size(), false);
  for (int32_t before = flow_.first; before < address; ++before)
    if (const int32_t out = register_written(at(before)); out >= 0) is_written[static_cast<size_t>(out)] = true;
  for (int32_t behind = address + 1; behind < flow_.end; ++behind)
    for_each_register_read(program_, at(behind), [&](int32_t number) { is_read[static_cast<size_t>(number)] = true; });
  std::vector<int32_t> across;
  for (size_t i = 0; i < registers_.size(); ++i) {
    const bool is_one = registers_[i].form == Form::Constant || registers_[i].form == Form::Unused;
    if (!is_one && is_written[i] && is_read[i]) across.push_back(static_cast<int32_t>(i));
  }
  return across;
}

// That only the second pass computes.
bool SectionGenerator::is_late_register(int32_t number) const {
  if (!ordered_ && !is_partitioned()) return false;
  for (int32_t address = flow_.first; address < flow_.end; ++address)
    if (register_written(at(address)) == number && !is_late(address)) return false;
  return true;
}

// Where items of a team leave elements of so many bytes for each other, one for each of its rows.
void SectionGenerator::use_stage(int width) {
  use_file("device/team.h");
  stage_width_ = std::max(stage_width_, width);
  declare("stage_bytes", "");
  declare("stage", "");
  heads_[declared_.at("stage_bytes")] =
      fmt::format("DK_SHARED DK_ALIGN16 dk_u8 stage_bytes[{}];", stage_width_ * kernel_.step_rows());
  heads_[declared_.at("stage")] =
      fmt::format("DK_LOCAL dk_u8* stage = stage_bytes + DK_TEAM * ({} * DK_TEAM_SIZE * DK_ROWS);", stage_width_);
}

void SectionGenerator::declare_lines(int32_t out) {
  use_file("device/pairs.h");
  for (const auto& [name, type] : {std::pair("starts", "dk_u32"), std::pair("rows", "dk_u16")}) {
    const std::string all = fmt::format("all_{}_{}", name, out), own = fmt::format("pair_{}_{}", name, out);
    declare(all, fmt::format("DK_SHARED {} {}[{}];", type, all, kernel_.step_rows()));
    declare(own, fmt::format("DK_LOCAL {0}* {1} = {2} + DK_TEAM * (DK_TEAM_SIZE * DK_ROWS);", type, own, all));
  }
}

// Totals alone may be left as they are.
bool SectionGenerator::may_be_stopped() const { return kernel_.sink == SectionKernel::Sink::Totals; }

// Up to the section's end. No row is behind a jump, which leads past a Matches only to the end.
void SectionGenerator::open_pairs(int32_t address) {
  const int32_t out = at(address).p1;
  const std::string name = fmt::format("index_{}", at(address).p3);
  kernel_.can_be_stopped = may_be_stopped();
  if (kernel_.can_be_stopped) {
    declare("turns", "dk_u32 turns = 0, stopped = 0;");
    declare("stop", fmt::format("DK_GLOBAL const dk_u64* stop = DK_AT(const dk_u64, {});", word(Kind::Stop)));
  }
  const std::string goes_on = kernel_.can_be_stopped ? " && stopped == 0" : "";
  use_stage(most_moved_bytes);
  declare_lines(out);
  body_.line("dk_u32 first_{0}[DK_ROWS], count_{0}[DK_ROWS];", out);
  body_.open("DK_FOR_ROWS(k) {{");
  body_.line("const dk_bool has = (met_{} >> k & 1U) != 0;", out);
  if (shape_.built(at(address).p3)->has_keys) {
    body_.line("first_{0}[k] = has ? {1}_starts[r{0}[k]] : 0U;", out, name);
    body_.line("count_{0}[k] = has ? {1}_starts[r{0}[k] + 1] - first_{0}[k] : 0U;", out, name);
  } else {
    body_.line("first_{}[k] = 0U;", out);
    body_.line("count_{}[k] = has ? {}_span : 0U;", out, name);
  }
  body_.close();
  if (kernel_.shares_rows && address == first_pairs_) write_own_matches(out);
  body_.open("for (dk_u32 skip_{0} = 0, more_{0} = 1; more_{0} != 0{1}; skip_{0} += DK_PAIRS_AT_A_TIME) {{", out,
             goes_on);
  body_.line("dk_u32 lines_{};", out);
  body_.line(
      "dk_u32 total_{0} = dk_list_pairs(pair_starts_{0}, pair_rows_{0}, count_{0}, skip_{0}, scratch, &lines_{0});",
      out);
  // A row that has more now has had as many as there are at a time.
  body_.line("more_{0} = total_{0} >= DK_PAIRS_AT_A_TIME;", out);
  body_.line("DK_TEAM_BARRIER();");
  std::string is_there = fmt::format("turn_{0} < total_{0}{1}", out, goes_on);
  if (ordered_) {
    const bool counts_all = all_pairs_reach_sink(address);
    if (counts_all) {
      body_.open("if (pass == 0) {{");
      body_.line("if (DK_LANE == 0) mine += total_{};", out);
      body_.line("total_{} = 0;", out);
      body_.close();
    }
    body_.line("DK_NOTE_FAILURE(failure, mine > DK_MOST_PAIRS{} ? DK_TOO_MANY_PAIRS : 0, 1, {});",
               counts_all ? "" : " / 32", address);
    is_there += " && (pass == 0 || place < capacity)";
  }
  body_.open("for (dk_u32 turn_{0} = 0; {1}; turn_{0} += DK_TEAM_SIZE * DK_ROWS) {{", out, is_there);
  if (kernel_.can_be_stopped)
    body_.line("if (++turns % DK_TURNS_BEFORE_LOOK == 0) stopped = dk_team_is_stopped(stop, scratch);");
  write_pairs(address);
}

// The pairs of one turn, and the registers that they need.
void SectionGenerator::write_pairs(int32_t address) {
  const int32_t out = at(address).p1;
  const std::string name = fmt::format("index_{}", at(address).p3);
  const IndexShape& shape = *shape_.built(at(address).p3);
  const bool is_fetched = shape.is_fetched;
  body_.line("dk_u32 here_{} = 0;", out);
  body_.line("dk_u32 from_{}[DK_ROWS];", out);
  if (is_fetched) body_.line("dk_u32 match_{}[DK_ROWS];", out);
  body_.open("DK_FOR_ROWS(k) {{");
  body_.line("const dk_u32 pair = turn_{} + (dk_u32)({});", out,
             ordered_ ? "DK_LANE * DK_ROWS + k" : "k * DK_TEAM_SIZE + DK_LANE");
  // Those behind the last pair are the last pair's as well, whose row is there.
  body_.line("const dk_u32 known = pair < total_{0} ? pair : total_{0} - 1;", out);
  body_.line("const dk_u32 line = dk_find_pair(pair_starts_{0}, lines_{0}, total_{0}, known);", out);
  body_.line("from_{0}[k] = pair_rows_{0}[line];", out);
  if (is_fetched) body_.line("match_{0}[k] = skip_{0} + known - pair_starts_{0}[line];", out);
  body_.line("here_{0} |= (dk_u32)(pair < total_{0}) << k;", out);
  body_.close();
  // Where the row is, and its matches.
  body_.line("dk_i32 moved_row_{}[DK_ROWS];", out);
  if (is_scattered_)
    write_moved(out, "dk_i32", "row[k]", fmt::format("moved_row_{}[k]", out));
  else
    body_.line("DK_FOR_ROWS(k) moved_row_{0}[k] = first - DK_LANE * DK_ROWS + (dk_i32)from_{0}[k];", out);
  if (is_fetched && shape.has_keys) {
    body_.line("dk_u32 moved_first_{}[DK_ROWS];", out);
    write_moved(out, "dk_u32", fmt::format("first_{}[k]", out), fmt::format("moved_first_{}[k]", out));
  }
  const std::vector<int32_t> across = registers_across(address);
  for (const int32_t number : across) write_moved_register(out, number);
  body_.open("{{");
  for (const int32_t number : across) write_taken_register(out, number);
  body_.line("dk_i32 row[DK_ROWS];");
  body_.line("DK_FOR_ROWS(k) row[k] = moved_row_{}[k];", out);
  body_.line("dk_u32 r{}[DK_ROWS];", out);
  if (is_fetched && shape.has_keys) {
    const std::string place = fmt::format("moved_first_{0}[k] + match_{0}[k]", out);
    body_.line("DK_FOR_ROWS(k) r{}[k] = {};", out,
               shape.record_bytes > 0 ? place : fmt::format("{}_rows[{}]", name, place));
  } else if (is_fetched) {
    body_.line("DK_FOR_ROWS(k) r{0}[k] = match_{0}[k];", out);
  }
  body_.line("dk_u32 active = here_{};", out);
  if (flow_.tracks_validity) body_.line("dk_u32 valid = active;");
  for (size_t target = 0; target < flow_.targets.size(); ++target)
    if (flow_.targets[target] > address) body_.line("dk_u32 pending_{} = 0;", target);
  is_scattered_ = true;
  if (groups() && address == last_pairs_) declare_group_registers();
  depth_ = body_.depth();
  body_.open("if (active != 0) {{");
}

// Elements of the team's rows, or parts of such, to the items that have pairs of them.
void SectionGenerator::write_moved(int32_t out, const std::string& type, const std::string& from,
                                   const std::string& to) {
  body_.open("{{");
  body_.line("{0} DK_LOCAL* moving = ({0} DK_LOCAL*)stage;", type);
  body_.line("DK_FOR_ROWS(k) moving[DK_LANE * DK_ROWS + k] = {};", from);
  body_.line("DK_TEAM_BARRIER();");
  body_.line("DK_FOR_ROWS(k) {} = moving[from_{}[k]];", to, out);
  body_.line("DK_TEAM_BARRIER();");
  body_.close();
}

// The same of bits.
void SectionGenerator::write_moved_mask(int32_t out, const std::string& from, const std::string& to) {
  body_.open("{{");
  body_.line("DK_LOCAL dk_u32* moving = (DK_LOCAL dk_u32*)stage;");
  body_.line("moving[DK_LANE] = {};", from);
  body_.line("DK_TEAM_BARRIER();");
  body_.line("DK_FOR_ROWS(k) {0} |= (moving[from_{1}[k] / DK_ROWS] >> (from_{1}[k] % DK_ROWS) & 1U) << k;", to, out);
  body_.line("DK_TEAM_BARRIER();");
  body_.close();
}

std::string SectionGenerator::element_type(int32_t number) const {
  const Form form = registers_[static_cast<size_t>(number)].form;
  return form == Form::Vector ? type_text(info(number).physical) : "dk_u32";
}

void SectionGenerator::write_moved_register(int32_t out, int32_t number) {
  const bool is_truth = reg(number).form == Form::Truth, has_nulls = known(number) != all_rows;
  const std::string name = fmt::format("moved_{}_{}", out, number);
  if (is_truth)
    body_.line("dk_u32 {} = 0;", name);
  else
    body_.line("{} {}[DK_ROWS];", element_type(number), name);
  if (has_nulls) body_.line("dk_u32 {}_known = 0;", name);
  // The whole team is in the same pass.
  const bool is_late = is_late_register(number);
  if (is_late) body_.open("if (pass != 0) {{");
  if (is_truth) {
    write_moved_mask(out, fmt::format("t{}", number), name);
  } else {
    for (const ElementPart& part :
         parts_of(reg(number).form == Form::Vector ? info(number).physical : PhysicalType::Int32))
      write_moved(out, part.type, fmt::format("r{}[k]{}", number, part.member),
                  fmt::format("{}[k]{}", name, part.member));
  }
  if (has_nulls) write_moved_mask(out, fmt::format("v{}", number), name + "_known");
  if (is_late) body_.close();
}

void SectionGenerator::write_taken_register(int32_t out, int32_t number) {
  const std::string name = fmt::format("moved_{}_{}", out, number);
  if (reg(number).form == Form::Truth) {
    body_.line("dk_u32 t{} = {};", number, name);
  } else {
    body_.line("{} r{}[DK_ROWS];", element_type(number), number);
    body_.line("DK_FOR_ROWS(k) r{}[k] = {}[k];", number, name);
  }
  if (known(number) != all_rows) body_.line("dk_u32 v{0} = {1}_known;", number, name);
}

// What is in shared memory with as many lines as there are such Matches.
void SectionGenerator::check_shared_memory() {
  if (!repeats()) return;
  size_t bytes = static_cast<size_t>(stage_width_ * kernel_.step_rows());
  for (int32_t address = first_pairs_; address <= last_pairs_; ++address)
    if (meets_several(address)) bytes += line_bytes * static_cast<size_t>(kernel_.step_rows());
  for (const GroupPlan& plan : kernel_.groups) {
    if (plan.place == GroupPlan::Place::Partitioned) bytes += sizeof(uint32_t) << plan.partition_bits;
    if (plan.place == GroupPlan::Place::Shared) bytes += 8 * plan.shared_words();
    bytes += 8 * plan.entry_words();
  }
  if (bytes > most_shared_bytes) refuse("more than shared memory holds of rows that meet several of an index each");
}

// Where row k of an item is in the tablet.
std::string SectionGenerator::row_number() const { return is_scattered_ ? "row[k]" : "(first + k)"; }

// A column of codes or plain values, where the pairs' rows are.
void SectionGenerator::write_scattered(const ColumnShape& column, size_t index, int32_t out, PhysicalType physical) {
  const std::string each = "DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) ";
  std::string value;
  if (column.encoding == Encoding::Plain) {
    value = fmt::format("((DK_GLOBAL const {}*){})[row[k]]", type_text(column.physical), column_data(index));
    value = plain_as(value, column.physical, info(out).physical);
  } else {
    value = decoded(column, index, stored_code(index, "row[k]"), physical);
    if (physical == PhysicalType::Bool) value = fmt::format("({}) != 0", value);
  }
  if (reg(out).form == Form::Truth) {
    body_.line("t{} = 0;", out);
    body_.line("{}t{} |= (dk_u32)({}) << k;", each, out, value);
  } else {
    body_.line("{}r{}[k] = {};", each, out, value);
  }
}

// Of a column that has some, those of the pairs' rows.
void SectionGenerator::write_scattered_nulls(int32_t out, size_t index) {
  const size_t validity = tablet_words + column_words * index + 1;
  body_.line("v{} = DK_ALL_ROWS;", out);
  body_.open("if (tablet[{}] != 0) DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) {{", validity);
  body_.line("if (!dk_row_is_known(DK_AT(const dk_u8, tablet[{}]), row[k])) v{} &= ~(1U << k);", validity, out);
  body_.close();
}

}  // namespace diptych::gpu
