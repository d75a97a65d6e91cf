#include "engine/gpu/generator/section_generator.h"

#include <algorithm>

#include "base/error.h"
#include "engine/gpu/join/expected_matches.h"
#include "kernel/kernel_library.h"
#include "program/operands.h"
#include "program/section_contents.h"

namespace diptych::gpu {
namespace {

// Columns of a result, words of partial aggregates that leave a kernel the registers for four groups on a unit.
constexpr size_t most_light_outputs = 3, most_light_partials = 8;

}  // namespace

const ColumnShape& SectionShape::of(size_t cursor_column) const { return columns[index_of(cursor_column)]; }

const IndexShape* SectionShape::built(int32_t index) const {
  const auto known = std::ranges::find(indexes, index, &IndexShape::index);
  return known == indexes.end() ? nullptr : &*known;
}

size_t SectionShape::index_of(size_t cursor_column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].column == cursor_column) return i;
  }
  throw Error(SqlState::internal_error, "the section's shape lacks a column that it reads");
}

SectionKernel generate_section(const Program& program, int32_t address, const SectionShape& shape) {
  return SectionGenerator(program, address, shape).generate();
}

SectionGenerator::SectionGenerator(const Program& program, int32_t address, const SectionShape& shape)
    : program_(program),
      address_(address),
      shape_(shape),
      flow_(analyse_section(program, address)),
      registers_(program.registers.size()) {}

SectionKernel SectionGenerator::generate() {
  if (!shape_.unsupported.empty()) refuse(shape_.unsupported);
  check_size();
  if (!kernel_.unsupported.empty()) return std::move(kernel_);
  find_sink();
  if (!kernel_.unsupported.empty()) return std::move(kernel_);
  find_pairs();
  find_filter();
  choose_forms();
  find_compaction();
  choose_gathering();
  choose_packed();
  choose_rows_per_thread();
  kernel_.repeats = repeats();
  kernel_.shares_rows = may_share_rows();
  if (kernel_.shares_rows) declare_long_rows();
  if (groups()) plan_group_tables();
  kernel_.notes_rows = may_note_rows();
  kernel_.adds_noted_rows = kernel_.notes_rows && compacts();
  if (is_partitioned() && shape_.has_large_groups && !repeats() && !compacts()) kernel_.items = large_group_size;
  if (!kernel_.unsupported.empty()) return std::move(kernel_);
  write_body();
  check_shared_memory();
  if (kernel_.unsupported.empty()) kernel_.source = assemble();
  return std::move(kernel_);
}

void SectionGenerator::use_file(const std::string& file) {
  if (std::find(files_.begin(), files_.end(), file) == files_.end()) files_.push_back(file);
}

std::string SectionGenerator::word(KernelParameter::Kind kind, int32_t index, int32_t part) {
  size_t number = 0;
  for (; number < kernel_.parameters.size(); ++number) {
    const KernelParameter& parameter = kernel_.parameters[number];
    if (parameter.kind == kind && parameter.index == index && parameter.part == part) break;
  }
  if (number == kernel_.parameters.size()) kernel_.parameters.push_back({kind, index, part});
  return fmt::format("parameters.word[{}]", number);
}

void SectionGenerator::declare(const std::string& name, const std::string& declaration) {
  if (declared_.emplace(name, heads_.size()).second) heads_.push_back(declaration);
}

void SectionGenerator::write_body() {
  using Kind = KernelParameter::Kind;
  declare("tablets", fmt::format("DK_GLOBAL const dk_u64* tablets = DK_AT(const dk_u64, {});", word(Kind::Tablets)));
  declare("tiles", fmt::format("const dk_i64 tiles = {}(dk_i64){};",
                               kernel_.shares_rows ? "is_sharing ? (dk_i64)(dk_u32)long_rows[0] : " : "",
                               word(Kind::TileCount)));
  declare("control", fmt::format("DK_GLOBAL dk_u64* control = DK_AT(dk_u64, {});", word(Kind::Control)));
  const std::string count = word(Kind::TabletCount), per_tablet = word(Kind::TilesPerTablet);
  if (kernel_.sink == SectionKernel::Sink::Totals) {
    totals_ = kernel_.hash_table;
    declare_totals();
  }
  declare("steps", fmt::format("const dk_i32 steps = (dk_i32){};", word(Kind::StepsPerTile)));
  write_guesses();
  KernelWriter& out = body_;
  if (ordered_ && !in_any_order_ && !keeps_all_rows()) {
    out.open(
        "for (dk_i64 tile = dk_next_tile(control, scratch); tile < tiles; tile = dk_next_tile(control, scratch)) {{");
  } else {
    out.open("for (dk_i64 tile = DK_GROUP_ID; tile < tiles{}; tile += DK_GROUP_COUNT) {{", goes_on());
  }
  if (kernel_.shares_rows) write_long_row();
  out.line("const dk_i64 number = {}dk_find_tablet(tablets, {}, (dk_i64){}, (dk_i64){}, tile);",
           kernel_.shares_rows ? "is_sharing ? (dk_i64)(long_row[1] >> 32) : " : "",
           tablet_words + column_words * shape_.columns.size(), count, per_tablet);
  out.line("DK_GLOBAL const dk_u64* tablet = tablets + number * {};",
           tablet_words + column_words * shape_.columns.size());
  out.line("const dk_i32 tablet_rows = (dk_i32)tablet[0];");
  write_tablet_columns();
  out.line("dk_i32 start = {}(dk_i32)(tile - (dk_i64)tablet[1]) * steps * {};",
           kernel_.shares_rows ? "is_sharing ? long_place / DK_ROWS * DK_ROWS : " : "", kernel_.step_rows());
  if (ordered_)
    write_passes();
  else
    write_steps();
  out.close();
  if (totals_ >= 0) write_totals_end();
  if (groups()) write_groups_end();
  out.line("dk_report(control, DK_AT(dk_u64, {}));", word(Kind::ControlReport));
}

// Where the tablet's columns are and how they are encoded: read once a tile, since stores in between would have the
// compiler read them again and again.
void SectionGenerator::write_tablet_columns() {
  for (size_t i = 0; i < shape_.columns.size(); ++i) {
    const size_t at_word = tablet_words + column_words * i;
    body_.line("DK_GLOBAL const dk_u8* data_{} = DK_AT(const dk_u8, tablet[{}]);", i, at_word);
    body_.line("const dk_i64 base_{} = (dk_i64)tablet[{}];", i, at_word + 2);
    if (!shape_.columns[i].unit_factor) body_.line("const dk_i64 factor_{} = (dk_i64)tablet[{}];", i, at_word + 3);
  }
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (is_packed(address)) write_code_bounds(address);
  }
}

// Where the rows of the tile go, of which each item has counted its own: `place` of the team's first row; `all`: of the
// tile, or, in any order, of the team.
void SectionGenerator::write_tiles_place() {
  KernelWriter& out = body_;
  out.line("dk_u32 all;");
  if (in_any_order_) return out.line("place = dk_team_take(control + 1, mine, scratch, &all);");
  declare("status",
          fmt::format("DK_GLOBAL dk_u64* status = DK_AT(dk_u64, {});", word(KernelParameter::Kind::TileStatus)));
  out.line("const dk_u32 before = dk_block_scan_u32(mine, scratch, &all);");
  out.line("place = dk_look_back(status, tile, all, scratch);");
  out.line("if (tile == tiles - 1 && DK_LOCAL_ID == 0) control[1] = place + all;");
  out.line("place += dk_team_first_u32(before, scratch);");
}

// An output in the order of the rows: the first pass over a tile counts its rows, so that the tiles behind it know
// where theirs go; the second, which finds its columns in the caches, writes them. In any order a team takes places for
// its rows, and nobody waits for others.
void SectionGenerator::write_passes() {
  KernelWriter& out = body_;
  use_file("device/team.h");
  out.line("start += DK_TEAM * steps * (DK_TEAM_SIZE * DK_ROWS);");
  out.line("dk_u32 mine = 0;");
  out.line("dk_u64 place = 0;");
  if (gathers_) return write_gathering();
  if (keeps_all_rows()) return write_all_rows();
  out.open("for (dk_i32 pass = 0; pass < 2; pass++) {{");
  write_steps();
  out.open("if (pass == 0) {{");
  write_tiles_place();
  out.line("if (all == 0) break;");
  out.close();
  out.close();
}

// Whether every row reaches the sink, once: then it is known where it goes.
bool SectionGenerator::keeps_all_rows() const {
  if (flow_.tracks_validity || gathers_) return false;
  for (int32_t address = flow_.first; address < flow_.end; ++address)
    if (info_of(at(address).opcode).kind == OpcodeKind::Jump || at(address).opcode == Opcode::Matches) return false;
  return true;
}

void SectionGenerator::write_all_rows() {
  KernelWriter& out = body_;
  out.line("const dk_i32 pass = 1;");
  out.line("place = tablet[3] + (dk_u64)(start < tablet_rows ? start : tablet_rows);");
  out.line("if (tile == tiles - 1 && DK_LOCAL_ID == 0) control[1] = tablet[3] + (dk_u64)tablet_rows;");
  write_steps();
}

void SectionGenerator::write_steps() {
  KernelWriter& out = body_;
  const char* items = ordered_ ? "DK_TEAM_SIZE" : "DK_GROUP_SIZE";
  out.open("for (dk_i32 step = 0; step < steps && start + step * ({} * DK_ROWS) < tablet_rows; step++) {{", items);
  out.line("const dk_i32 first = start + step * ({} * DK_ROWS) + {} * DK_ROWS;", items,
           ordered_              ? "DK_LANE"
           : kernel_.shares_rows ? "(is_sharing ? DK_LANE : DK_LOCAL_ID)"
                                 : "DK_LOCAL_ID");
  out.line("dk_u32 active = dk_rows_left(tablet_rows - first);");
  if (kernel_.shares_rows) out.line("if (is_sharing) active = DK_LANE == 0 ? 1U << long_place % DK_ROWS : 0U;");
  if (flow_.tracks_validity) out.line("dk_u32 valid = active;");
  for (size_t target = 0; target < flow_.targets.size(); ++target) out.line("dk_u32 pending_{} = 0;", target);
  if (kernel_.notes_rows) write_noted_rows();
  declare_registers();
  is_scattered_ = false;
  if (groups() && !repeats() && !compacts()) declare_group_registers();
  const size_t step_depth = depth_ = out.depth();
  if (!write_filter_columns()) out.open("if (active != 0) {{");
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    begin_instruction(address);
    const Opcode opcode = at(address).opcode;
    const bool meets =
        info_of(opcode).kind == OpcodeKind::Sink && opcode != Opcode::Group && opcode != Opcode::Aggregate;
    if (meets) out.close_to(depth_);
    if (meets || opcode == Opcode::Matches) loaded_parts_.clear();
    if (is_filter_column(address)) continue;
    const bool late = is_put_off(address);
    if (late && gathers_) continue;
    if (opcode == Opcode::Fetch) declare_parts(address, late);
    if (late) out.open("if (pass != 0 && active != 0) {{");
    write_instruction(address);
    if (late) out.close();
  }
  out.close_to(depth_);
  if (is_partitioned()) write_partition_rows();
  if (compacts()) close_compacted();
  out.close_to(step_depth);
  if (kernel_.notes_rows) write_noted_end();
  out.line("if (failure != 0) dk_show_failure(control, failure);");
  out.close();
}

// Columns that conditions read are all asked for at once: one after the other each would wait for the one before. But
// for those that few rows are left for. Returns whether there are any.
bool SectionGenerator::write_filter_columns() {
  bool any = false;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (!is_filter_column(address)) continue;
    if (!any) body_.open("if (active != 0) {{");
    any = true;
    write_instruction(address);
  }
  if (any) body_.close();
  return any;
}

bool SectionGenerator::is_filter_column(int32_t address) const {
  const Instruction& instruction = at(address);
  if (instruction.opcode != Opcode::Column && instruction.opcode != Opcode::Code) return false;
  if (address > std::min(first_rare_, first_pairs_)) return false;
  const Encoding encoding = shape_.of(static_cast<size_t>(instruction.p2)).encoding;
  return encoding != Encoding::Heap && filters_[static_cast<size_t>(instruction.p1)] &&
         flow_.writers[static_cast<size_t>(instruction.p1)] == 1;
}

// Only the sink needs it.
bool SectionGenerator::is_late(int32_t address) const {
  if (at(address).opcode == Opcode::Group) return false;
  const int32_t out = register_written(at(address));
  return out >= 0 && !early_[static_cast<size_t>(out)] && registers_[static_cast<size_t>(out)].form != Form::Constant;
}

void SectionGenerator::declare_registers() {
  for (size_t i = 0; i < registers_.size(); ++i) {
    if (gathers_ && !filters_[i]) continue;
    const RegisterInfo& register_info = program_.registers[i];
    switch (registers_[i].form) {
      case Form::Unused:
      case Form::Constant: continue;
      case Form::Truth: body_.line("dk_u32 t{} = 0;", i); break;
      case Form::Code:
      case Form::Place: body_.line("dk_u32 r{}[DK_ROWS];", i); break;
      case Form::Packed: body_.line("dk_u32 p{}[DK_ROWS / 4];", i); break;
      case Form::Vector:
        body_.line("{} r{}[DK_ROWS];", type_text(register_info.physical), i);
        // Texts of rows that nobody wants are empty: functions may look at them.
        if (register_info.physical == PhysicalType::Text) body_.line("DK_FOR_ROWS(k) r{}[k] = dk_make_text(0, 0);", i);
        break;
    }
    if (register_info.nullable) body_.line("dk_u32 v{} = 0;", i);
  }
}

// Rows that jumped here join; those that no jump can make valid any more leave.
void SectionGenerator::begin_instruction(int32_t address) {
  const int target = flow_.target_number(address);
  if (target >= 0) {
    body_.close_to(depth_);
    loaded_parts_.clear();
    body_.line("active |= pending_{};", target);
  }
  if (flow_.drops_invalid[static_cast<size_t>(address - flow_.first)]) body_.line("active &= valid;");
}

// The files of the scalar functions that a text names.
void SectionGenerator::use_functions_of(const std::string& text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (size_t at = text.find("dk_"); at != std::string::npos; at = text.find("dk_", at + 1)) {
    const size_t end = text.find_first_not_of(letters, at);
    const std::string_view file = file_of_function(std::string_view(text).substr(at, end - at));
    if (!file.empty()) use_file(std::string(file));
  }
}

// That the compiler should leave registers for; left alone it takes more than it needs: totals of ten filters took 20
// to 33 % less time with four groups on a unit than with the two that its 94 registers allowed. So do rows that meet
// indexes, which wait for memory most of the time. The queries of SSB take (geometric mean), with four, five, six and
// eight groups, 0.87, 0.92, 0.97 and 1.33 of the time that they take with as many registers as the compiler wishes.
int SectionGenerator::least_groups() const {
  constexpr int groups_that_meet = 4;
  if (meets_index(program_, address_)) return kernel_.items == group_size ? groups_that_meet : 1;
  if (!is_light_) return 1;
  // Values of the result's rows that are fetched at once take registers, too.
  if (gathers_) return kernel_.outputs.size() > most_light_outputs ? 3 : 4;
  if (kernel_.sink != SectionKernel::Sink::Totals || has_costly_instruction()) return 1;
  return kernel_.partial_words > most_light_partials ? 3 : 4;
}

// One that takes many registers of its own, which would be spilled.
bool SectionGenerator::has_costly_instruction() const {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    switch (at(address).opcode) {
      case Opcode::Div:
      case Opcode::Mod:
      case Opcode::NumericDiv:
      case Opcode::Rescale:
      case Opcode::Call:
      case Opcode::Concat: return true;
      default: break;
    }
  }
  return false;
}

KernelText SectionGenerator::assemble() {
  std::string text = fmt::format("#define DK_GROUP_SIZE {}\n#define DK_PARAMETER_WORDS {}\n#define DK_ROWS {}\n",
                                 kernel_.items, kernel_.parameters.size(), kernel_.rows_per_thread);
  if (const int groups = least_groups(); groups > 1) text += fmt::format("#define DK_LEAST_GROUPS {}\n", groups);
  use_file("device/section.h");
  use_file("device/block.h");
  if (ordered_ && !in_any_order_) use_file("device/look_back.h");
  std::string body = body_.take();
  use_functions_of(body);
  for (const std::string& head : heads_) use_functions_of(head);
  std::vector<std::string_view> files(files_.begin(), files_.end());
  text += kernel_text(files);
  kernel_.library_bytes = text.size();
  std::string entry = fmt::format("section_{}", address_);
  KernelWriter out;
  out.open("DK_KERNEL void {}(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters parameters) {{",
           entry);
  out.line("DK_SCRATCH(scratch);");
  for (const std::string& head : heads_) out.line("{}", head);
  out.line("dk_u64 failure = 0;");
  out.append(body);
  out.close();
  return {text + out.take(), std::move(entry)};
}

}  // namespace diptych::gpu
