// Rows that meet very many rows of an index, where others meet few: the team that has one would still go through its
// pairs when all others are done. The kernel is launched twice, and the second launch shares such rows out:
//
//   first launch    a unit of the loop is a tile; rows with more than most_own_matches are noted and left alone
//   second launch   a unit is a slice of a noted row: each team computes the row's registers again, as the first row
//                   of its first item, and takes its part of the slice's pairs
//
// So the loop has one text for both. Where rows go to partitions, both passes have both launches: the first pass notes
// the rows, the second finds the same ones, and the groups of the second launch have counts of their own.
#include "engine/gpu/generator/section_generator.h"
#include "program/section_contents.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

namespace {

// Of a slice: two turns of each of a CUDA group's teams. A million pairs of one row are 489 slices, so that all
// multiprocessors of a large device have some.
constexpr int slice_pairs = 2048;

}  // namespace

// A sink in front of the pairs would take such a row once a slice.
bool SectionGenerator::may_share_rows() const {
  if (!repeats() || ordered_) return false;
  for (int32_t address = flow_.first; address < first_pairs_; ++address)
    if (info_of(at(address).opcode).kind == OpcodeKind::Sink) return false;
  return shape_.built(at(first_pairs_).p3)->has_long_lists;
}

void SectionGenerator::declare_long_rows() {
  use_file("device/long_rows.h");
  const auto part = [this](LongRowPart which) { return word(Kind::LongRows, 0, static_cast<int32_t>(which)); };
  declare("is_sharing", fmt::format("const dk_bool is_sharing = {} != 0;", part(LongRowPart::IsSharing)));
  declare("long_rows", fmt::format("DK_GLOBAL dk_u64* long_rows = DK_AT(dk_u64, {});", part(LongRowPart::List)));
  declare("long_room", fmt::format("const dk_u64 long_room = {};", part(LongRowPart::Room)));
  declare("grid_group", "const dk_i32 grid_group = DK_GROUP_ID + (is_sharing ? DK_GROUP_COUNT : 0);");
}

// The number of the group among those of all launches, and how many these have.
std::string SectionGenerator::grid_group() const { return kernel_.shares_rows ? "grid_group" : "DK_GROUP_ID"; }
std::string SectionGenerator::grid_groups() const {
  return kernel_.shares_rows ? "(2 * DK_GROUP_COUNT)" : "DK_GROUP_COUNT";
}

// Slices may be millions, which take long even without their pairs.
std::string SectionGenerator::goes_on() const {
  return kernel_.shares_rows && may_be_stopped() ? " && stopped == 0" : "";
}

// The row that the unit is a slice of, and how many of its pairs come before those of the team.
void SectionGenerator::write_long_row() {
  body_.line("DK_GLOBAL const dk_u64* long_row = is_sharing ? dk_find_long_row(long_rows, tile) : long_rows;");
  body_.line("const dk_i32 long_place = (dk_i32)(dk_u32)long_row[1];");
  body_.line(
      "const dk_u32 passed = (dk_u32)(tile - (dk_i64)long_row[0]) * {0}U + DK_TEAM * ({0} * DK_TEAM_SIZE / {1});",
      slice_pairs, kernel_.items);
}

// Of the rows' matches those that the team goes through in this launch.
void SectionGenerator::write_own_matches(int32_t out) {
  const char* notes = is_partitioned() ? "pass != 0 || " : "";
  body_.open("if (is_sharing) {{");
  body_.line("const dk_u32 part = {} * DK_TEAM_SIZE / {};", slice_pairs, kernel_.items);
  body_.open("DK_FOR_ROWS(k) {{");
  body_.line("const dk_u32 left = count_{0}[k] > passed ? count_{0}[k] - passed : 0U;", out);
  body_.line("first_{}[k] += passed;", out);
  body_.line("count_{}[k] = left < part ? left : part;", out);
  body_.close();
  body_.close();
  body_.open("DK_FOR_ROWS(k) if (!is_sharing && count_{}[k] > {}U) {{", out, most_own_matches);
  body_.line("const dk_u32 slices = (count_{}[k] + {}U) / {}U;", out, slice_pairs - 1, slice_pairs);
  body_.line("if ({}dk_note_long_row(long_rows, long_room, slices, number, first + k)) count_{}[k] = 0;", notes, out);
  body_.close();
}

}  // namespace diptych::gpu
