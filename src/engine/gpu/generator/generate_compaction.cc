// Rows that a Matches leaves where these are few, put close together. Left where they are, an item would have one of
// them or none: what is behind would be done DK_ROWS times with most of a warp's lanes idle, and would wait for memory
// in every step. So the rows that steps leave are kept in shared memory until there is one for each item of the team;
// then these go through the rest of the section together:
//
//   step 0    . . 3 . . . . .      kept: 3
//   step 1    8 . . . . 13 . .     kept: 3 8 13
//   step 2    . 17 . . . . . .     kept: 3 8 13 17    which is one for each item of a team of four
//
//   waiting            rows of the team that are kept; none are left at the end of a tile
//   kept_row[i]        where row i is behind the first row of the tile
//   kept_7[i], kept_8_known[i]    what is read behind of register 7, and whether 8 is not NULL
//
// In that loop DK_ROWS is 1, and row[0] is the row in the tablet. Rows lose their order, so sinks that need it are left
// as they are.
#include <string_view>

#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {
namespace {

// Of shared memory. Every device has 48 KiB, of which the functions of a group take 8 at most, counts of partitions and
// tables of groups as many each.
constexpr size_t most_kept_bytes = 24 << 10;

static_assert(most_steps * group_size * 8 <= 1 << 16, "a row of a tile has its place in 16 bits");

}  // namespace

// Decides at which Matches that is. Where only columns are loaded behind it, all at once, nothing is won: the totals of
// SSB's q1.1 to q1.3 take 3 to 15 % longer.
void SectionGenerator::find_compaction() {
  compacts_at_ = flow_.end;
  if (repeats() || ordered_ || first_rare_ == flow_.end || shape_.built(at(first_rare_).p3) == nullptr) return;
  bool waits = false;
  for (int32_t behind = first_rare_ + 1; behind < flow_.end; ++behind) {
    const Opcode opcode = at(behind).opcode;
    waits |= opcode == Opcode::Matches || opcode == Opcode::Fetch || opcode == Opcode::Group;
    if (makes_text(at(behind))) return;
  }
  if (!waits) return;
  size_t bytes = 0;
  for (const KeptValue& value : kept_values(first_rare_)) bytes += value.bytes;
  // One place an item beside those of its rows.
  const auto fits = [&](int rows) { return bytes * static_cast<size_t>((rows + 1) * group_size) <= most_kept_bytes; };
  if (!fits(4)) return;
  compacts_at_ = first_rare_;
  most_kept_rows_ = fits(8) ? 8 : 4;
}

// Of a row that is kept.
std::vector<SectionGenerator::KeptValue> SectionGenerator::kept_values(int32_t address) {
  std::vector<KeptValue> values{{"dk_u16", 2, "kept_row", "first + k - start", "", ""}};
  const int32_t out = at(address).p1;
  if (shape_.built(at(address).p3)->is_fetched)
    values.push_back(
        {"dk_u32", 4, fmt::format("kept_{}", out), fmt::format("r{}[k]", out), fmt::format("r{}[0]", out), "dk_u32"});
  const auto keep_mask = [&](const std::string& name, const std::string& mask) {
    values.push_back({"dk_u8", 1, name, fmt::format("{} >> k & 1U", mask), mask, "dk_u32"});
  };
  for (const int32_t number : registers_across(address)) {
    const Register& source = registers_[static_cast<size_t>(number)];
    const std::string name = fmt::format("kept_{}", number);
    if (source.form == Form::Truth) {
      keep_mask(name, fmt::format("t{}", number));
    } else {
      const PhysicalType physical = source.form == Form::Vector ? info(number).physical : PhysicalType::Int32;
      for (const ElementPart& part : parts_of(physical)) {
        // An address, which shared memory of OpenCL has as a number.
        const bool is_pointer = std::string_view(part.type).ends_with('*');
        values.push_back({is_pointer ? "dk_u64" : part.type, part.bytes, name + part.ending,
                          fmt::format("r{}[k]{}", number, part.member), fmt::format("r{}[0]{}", number, part.member),
                          part.type});
      }
    }
    if (known(number) != all_rows) keep_mask(name + "_known", fmt::format("v{}", number));
  }
  return values;
}

// Keeps the rows in met_7; what is written from here on is of kept ones.
void SectionGenerator::open_compacted(int32_t address) {
  use_file("device/team.h");
  const int32_t out = at(address).p1;
  const std::vector<KeptValue> values = kept_values(address);
  const int places = kernel_.rows_per_thread + 1;
  for (const KeptValue& value : values) {
    declare("all_" + value.name, fmt::format("DK_SHARED {} all_{}[{}];", value.type, value.name, places * group_size));
    declare(value.name, fmt::format("DK_LOCAL {0}* {1} = all_{1} + DK_TEAM * (DK_TEAM_SIZE * {2});", value.type,
                                    value.name, places));
  }
  declare("waiting", "dk_u32 waiting = 0;");
  body_.line("dk_u32 more;");
  body_.line("dk_u32 to = dk_team_places(DK_POPCOUNT_U32(met_{}), scratch, &more) + waiting;", out);
  body_.open("DK_FOR_ROWS(k) if ((met_{} >> k & 1U) != 0) {{", out);
  for (const KeptValue& value : values) body_.line("{}[to] = ({})({});", value.name, value.type, value.value);
  body_.line("to++;");
  body_.close();
  body_.line("waiting += more;");
  body_.line("DK_TEAM_BARRIER();");
  body_.line("const dk_bool is_last = step + 1 == steps || start + (step + 1) * {} >= tablet_rows;",
             kernel_.step_rows());
  body_.open("while (waiting >= DK_TEAM_SIZE || (is_last && waiting != 0)) {{");
  body_.line("const dk_u32 taken = waiting < DK_TEAM_SIZE ? waiting : DK_TEAM_SIZE;");
  body_.line("waiting -= taken;");
  // Items behind the last row have its first one as well, which is there.
  body_.line("const dk_bool is_there = (dk_u32)DK_LANE < taken;");
  body_.line("const dk_u32 from = waiting + (is_there ? (dk_u32)DK_LANE : 0U);");
  body_.line("#undef DK_ROWS");
  body_.line("#define DK_ROWS 1");
  body_.line("const dk_u32 kept = kept_row[from];");
  body_.line("dk_i32 row[1];");
  body_.line("row[0] = start + (dk_i32)kept;");
  if (kernel_.notes_rows) body_.line("dk_u32 found = 0;");
  // Under the same names, so that what is behind is as it would be without.
  for (const int32_t number : registers_across(address)) {
    if (reg(number).form == Form::Truth)
      body_.line("dk_u32 t{};", number);
    else
      body_.line("{} r{}[1];", element_type(number), number);
    if (known(number) != all_rows) body_.line("dk_u32 v{};", number);
  }
  body_.line("dk_u32 r{}[1];", out);
  for (const KeptValue& value : values)
    if (!value.to.empty()) body_.line("{} = ({}){}[from];", value.to, value.to_type, value.name);
  body_.line("dk_u32 active = is_there ? 1U : 0U;");
  if (flow_.tracks_validity) body_.line("dk_u32 valid = active;");
  for (size_t target = 0; target < flow_.targets.size(); ++target)
    if (flow_.targets[target] > address) body_.line("dk_u32 pending_{} = 0;", target);
  is_scattered_ = true;
  if (groups()) declare_group_registers();
  depth_ = body_.depth();
  body_.open("if (active != 0) {{");
}

// The end of that loop's body.
void SectionGenerator::close_compacted() {
  if (kernel_.notes_rows)
    body_.line(
        "if (pass == 0 && (found != 0 || failure != 0)) dk_note_rows(masks, items_before + kept / {0}U, 1U << kept % "
        "{0}U);",
        kernel_.rows_per_thread);
  body_.close();
  body_.line("#undef DK_ROWS");
  body_.line("#define DK_ROWS {}", kernel_.rows_per_thread);
}

}  // namespace diptych::gpu
