// Groups of any number: rows go to the partition that their keys' hash says, at places that a first pass over the same
// rows has counted.
//
//   pass 0   every group of the grid counts its rows of each partition
//   pass 1   and writes them from the place on that the sum of the counts before gives it
//
// Large work-groups keep rows in shared memory until it is full, and write them in the order of the partitions
// (kernel/device/row_stage.h).
// Where few rows are expected to be left of the section's conditions, the first pass notes which ones are, so that the
// second one looks at no others.
#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/generator/section_generator.h"
#include "engine/gpu/groups/group_kernels.h"
#include "engine/gpu/join/expected_matches.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;
using Place = GroupPlan::Place;

bool SectionGenerator::is_partitioned() const {
  return std::any_of(kernel_.groups.begin(), kernel_.groups.end(),
                     [](const GroupPlan& plan) { return plan.place == Place::Partitioned; });
}

// What of a row travels: its keys, and the values that the aggregates behind the Group at `address` take.
void SectionGenerator::lay_out_row(GroupPlan& plan, int32_t address) {
  GroupRowLayout& row = plan.row;
  row.argument_of.assign(plan.states.aggregates.size(), -1);
  row.flag_of.assign(plan.states.aggregates.size(), GroupRowLayout::none_counts);
  for (const GroupKeyPlan& key : plan.keys) row.keys.push_back({0, key.nullable ? static_cast<int>(row.flags++) : -1});
  std::vector<bool> taken(plan.states.aggregates.size(), false);
  for (int32_t next = address + 1; next < flow_.end; ++next) {
    const Instruction& instruction = at(next);
    if (instruction.opcode != Opcode::Aggregate || instruction.p1 != plan.hash_table) continue;
    const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
    if (taken[number]) return refuse("an aggregate that a row reaches in two ways");
    taken[number] = true;
    row.flag_of[number] = plan.always[number] ? -1 : static_cast<int>(row.flags++);
    if (plan.states.aggregates[number].kind == StateKind::Count) continue;
    const auto same = [&](const GroupRowLayout::Argument& other) { return other.register_number == instruction.p2; };
    const auto found = std::find_if(row.arguments.begin(), row.arguments.end(), same);
    row.argument_of[number] = static_cast<int>(found - row.arguments.begin());
    if (found == row.arguments.end()) row.arguments.push_back({instruction.p2, info(instruction.p2).physical, 0});
  }
  row.words = row.flag_words();
  for (size_t i = 0; i < plan.keys.size(); ++i) {
    row.keys[i].word = row.words;
    row.words += plan.keys[i].row_words();
  }
  for (GroupRowLayout::Argument& argument : row.arguments) {
    argument.word = row.words;
    row.words += value_row_words(argument.physical);
  }
  // Two words, or four, are written at once.
  if (row.words > 1) row.words = row.words <= 2 ? 2 : (row.words + 3) / 4 * 4;
  plan.kernels = make_group_kernels(plan, program_.hash_tables[static_cast<size_t>(plan.hash_table)],
                                    shape_.has_large_groups ? large_group_size : group_size);
}

void SectionGenerator::declare_partitions(const GroupPlan& plan) {
  use_file("device/group_rows.h");
  const int32_t table = plan.hash_table;
  if (repeats()) declare(fmt::format("counted_{}", table), fmt::format("dk_u64 counted_{} = 0;", table));
  declare("pass", fmt::format("const dk_u32 pass = (dk_u32){};", group_word(plan, GroupPart::Pass)));
  declare(fmt::format("rows_{}", table),
          fmt::format("DK_GLOBAL dk_u32* rows_{} = DK_AT(dk_u32, {});", table, group_word(plan, GroupPart::Rows)));
  declare(fmt::format("starts_{}", table),
          fmt::format("DK_GLOBAL dk_u32* starts_{} = DK_AT(dk_u32, {});", table, group_word(plan, GroupPart::Starts)));
  declare(fmt::format("bits_{}", table),
          fmt::format("const dk_i32 bits_{} = (dk_i32){};", table, group_word(plan, GroupPart::PartitionBits)));
  if (kernel_.stages_rows)
    declare_stage(plan);
  else
    declare(fmt::format("places_{}", table),
            fmt::format("DK_SHARED dk_u32 places_{}[{}];", table, 1 << plan.partition_bits));
  declare(
      fmt::format("begin_{}", table),
      fmt::format("for (dk_i32 i = DK_LOCAL_ID; i < 1 << bits_{0}; i += DK_GROUP_SIZE) places_{0}[i] = pass == 0 ? 0U "
                  ": starts_{0}[(dk_i64)i * {1} + {2}];",
                  table, grid_groups(), grid_group()));
}

// The rows of one table, if they are many and short enough for a step's to have room.
bool SectionGenerator::may_stage_rows(const GroupPlan& plan) const {
  constexpr size_t most_staged_words = 8;
  return plan.place == Place::Partitioned && kernel_.groups.size() == 1 && shape_.has_large_groups && !repeats() &&
         !compacts() && !may_note_rows() && plan.row.words <= most_staged_words;
}

void SectionGenerator::declare_stage(const GroupPlan& plan) {
  use_file("device/row_stage.h");
  const int32_t table = plan.hash_table;
  const std::string partitions = fmt::format("1 << bits_{}", table);
  declare("room", fmt::format("DK_SHARED_ROOM(room, {});", usual_table_bytes / 8));
  declare(fmt::format("places_{}", table), fmt::format("DK_LOCAL dk_u32* places_{} = (DK_LOCAL dk_u32*)room;", table));
  declare("staged_rows",
          fmt::format("const dk_u32 staged_rows = (dk_u32){};", group_word(plan, GroupPart::StagedRows)));
  declare("kept", "dk_u32 kept = 0;");
  declare("none_kept", fmt::format("if (staged_rows != 0) for (dk_i32 i = DK_LOCAL_ID; i < {0}; i += DK_GROUP_SIZE) "
                                   "places_{1}[({0}) + i] = 0;",
                                   partitions, table));
}

void SectionGenerator::write_stage(const GroupPlan& plan) {
  body_.line("dk_stage_write(places_{0}, 1 << bits_{0}, staged_rows, kept, rows_{0}, {1}, scratch);", plan.hash_table,
             plan.row.words);
}

void SectionGenerator::declare_flags(const GroupPlan& plan) {
  for (size_t i = 0; i < plan.row.flag_of.size(); ++i) {
    if (plan.row.flag_of[i] >= 0) body_.line("dk_u32 flag_{}_{} = 0;", plan.hash_table, i);
  }
}

// Declares the words `key` of row k's keys, and the `partition` that they belong to.
void SectionGenerator::write_row_partition(int32_t address, const GroupPlan& plan) {
  body_.line("dk_u64 key[{}];", plan.key_words);
  if (plan.has_null_word) body_.line("key[0] = 0;");
  for (size_t i = 0; i < plan.keys.size(); ++i) write_key_words(at(address).p2 + static_cast<int32_t>(i), plan, i);
  body_.line("const dk_u32 partition = dk_partition_of(dk_hash_words(key, {}), bits_{});", plan.compared_words,
             plan.hash_table);
}

void SectionGenerator::write_group_counted(int32_t address, const GroupPlan& plan) {
  body_.open("if (pass == 0) {{");
  if (repeats()) body_.line("counted_{} += DK_POPCOUNT_U32(grouped_{});", plan.hash_table, at(address).p1);
  body_.open("DK_FOR_ROWS(k) if ((grouped_{} >> k & 1U) != 0) {{", at(address).p1);
  write_row_partition(address, plan);
  body_.line("dk_atomic_add_local_u32(places_{} + partition, 1);", plan.hash_table);
  body_.close();
  body_.close();
}

void SectionGenerator::write_flag(const GroupPlan& plan, size_t number, const std::string& rows) {
  if (plan.row.flag_of[number] >= 0) body_.line("flag_{}_{} |= {};", plan.hash_table, number, rows);
}

// At the end of a step, when all values are there.
void SectionGenerator::write_partition_rows() {
  body_.open("if (pass != 0) {{");
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (at(address).opcode != Opcode::Group) continue;
    const GroupPlan& plan = group_plan(at(address).p3);
    if (plan.place != Place::Partitioned) continue;
    const int32_t table = plan.hash_table;
    if (kernel_.stages_rows) {
      body_.line("dk_u32 more = 0;");
      body_.line("dk_u32 entry = kept;");
      body_.line("if (staged_rows != 0) entry += dk_block_scan_u32(DK_POPCOUNT_U32(grouped_{}), scratch, &more);",
                 at(address).p1);
    }
    body_.open("DK_FOR_ROWS(k) if ((grouped_{} >> k & 1U) != 0) {{", at(address).p1);
    write_row_partition(address, plan);
    body_.line("dk_u32 row[{}];", std::max<size_t>(plan.row.words, 1));
    write_row_words(address, plan);
    if (kernel_.stages_rows) {
      body_.line(
          "if (staged_rows != 0) dk_stage_keep(places_{0}, 1 << bits_{0}, staged_rows, entry++, partition, row, {1});",
          table, plan.row.words);
      body_.open("if (staged_rows == 0) {{");
    }
    body_.line("const dk_u32 place = dk_atomic_add_local_u32(places_{} + partition, 1);", table);
    body_.line("dk_store_row(rows_{} + (dk_u64)place * {}, row, {});", table, plan.row.words, plan.row.words);
    if (kernel_.stages_rows) body_.close();
    body_.close();
    if (!kernel_.stages_rows) continue;
    body_.line("kept += more;");
    body_.open("if (kept + {} > staged_rows && kept != 0) {{", kernel_.step_rows());
    write_stage(plan);
    body_.line("kept = 0;");
    body_.close();
  }
  body_.close();
}

// Every row that a sink takes must have a group: of these alone there is a mask.
bool SectionGenerator::may_note_rows() const {
  if (!is_partitioned() || repeats() || !few_reach_sinks(program_, address_)) return false;
  for (int32_t address = flow_.first; address < flow_.end; ++address)
    if (at(address).opcode == Opcode::Aggregate && at(address).p3 < 0) return false;
  return true;
}

void SectionGenerator::write_noted_rows() {
  declare("masks", fmt::format("DK_GLOBAL dk_u8* masks = DK_AT(dk_u8, {});", word(Kind::RowMasks)));
  body_.line("const dk_u64 items_before = (dk_u64)tile * (dk_u64)steps * DK_GROUP_SIZE;");
  body_.line("const dk_u64 item = items_before + (dk_u64)(step * DK_GROUP_SIZE + DK_LOCAL_ID);");
  body_.line("if (pass != 0) active &= masks[item];");
  if (flow_.tracks_validity) body_.line("if (pass != 0) valid = active;");
  if (!compacts()) body_.line("dk_u32 found = 0;");
}

// Those of an item that failed are all looked at again, as it is the second pass that shows failures.
void SectionGenerator::write_noted_end() {
  if (compacts())
    body_.line("if (pass == 0 && failure != 0) dk_note_rows(masks, item, DK_ALL_ROWS);");
  else
    body_.line("if (pass == 0) masks[item] = (dk_u8)(failure == 0 ? found : DK_ALL_ROWS);");
}

void SectionGenerator::write_key_words(int32_t key, const GroupPlan& plan, size_t number) {
  const GroupKeyPlan& place = plan.keys[number];
  const std::string there = known(key);
  if (there != all_rows) {
    for (size_t i = 0; i < place.compared_words(); ++i) body_.line("key[{}] = 0;", place.word + i);
    for (size_t i = 0; i < place.carried_words(); ++i) body_.line("key[{}] = 0;", place.carried + i);
    body_.line("if (({} >> k & 1U) == 0) key[0] |= DK_U64({});", there, uint64_t{1} << number);
    body_.open("if (({} >> k & 1U) != 0) {{", there);
  }
  const std::string value = place.dictionary_column >= 0 ? fmt::format("r{}[k]", key) : operand(key);
  switch (place.physical) {
    case PhysicalType::Int128:
      body_.line("key[{}] = ({}).lo;", place.word, value);
      body_.line("key[{}] = (dk_u64)({}).hi;", place.word + 1, value);
      break;
    case PhysicalType::Interval:
      body_.line("const dk_i128 words_{} = dk_words_of_interval({});", number, value);
      body_.line("key[{}] = words_{}.lo;", place.carried, number);
      body_.line("key[{}] = (dk_u64)words_{}.hi;", place.carried + 1, number);
      body_.line("const dk_i128 span_{} = dk_span_of_interval({});", number, value);
      body_.line("key[{}] = span_{}.lo;", place.word, number);
      body_.line("key[{}] = (dk_u64)span_{}.hi;", place.word + 1, number);
      break;
    case PhysicalType::Float32:
    case PhysicalType::Float64: body_.line("key[{}] = dk_key_word_f64((dk_f64)({}));", place.word, value); break;
    case PhysicalType::Text:
      if (!place.is_string()) {
        body_.line("key[{}] = (dk_u64)({});", place.word, value);
        break;
      }
      body_.line("key[{}] = dk_text_key({});", place.word, value);
      body_.line("key[{}] = dk_text_address(DK_SPACES_ARG, {});", place.carried, value);
      break;
    default: body_.line("key[{}] = (dk_u64)(dk_i64)({});", place.word, value);
  }
  if (there != all_rows) body_.close();
}

// The row, out of `key` and the registers of its values.
void SectionGenerator::write_row_words(int32_t address, const GroupPlan& plan) {
  const GroupRowLayout& row = plan.row;
  const auto word = [&](size_t number, const std::string& value) { body_.line("row[{}] = {};", number, value); };
  for (size_t i = 0; i < row.words; ++i) word(i, "0");
  for (size_t i = 0; i < row.keys.size(); ++i) {
    const std::string there = known(at(address).p2 + static_cast<int32_t>(i));
    if (const int flag = row.keys[i].flag; flag >= 0 && there != all_rows)
      body_.line("row[{}] |= (~({}) >> k & 1U) << {};", flag / 32, there, flag % 32);
    const GroupKeyPlan& key = plan.keys[i];
    for (size_t part = 0; part < key.row_words(); ++part)
      word(row.keys[i].word + part, fmt::format("(dk_u32)(key[{}] >> {})", key.word_in_row(part / 2), part % 2 * 32));
  }
  for (size_t i = 0; i < row.flag_of.size(); ++i) {
    if (const int flag = row.flag_of[i]; flag >= 0)
      body_.line("row[{}] |= (flag_{}_{} >> k & 1U) << {};", flag / 32, plan.hash_table, i, flag % 32);
  }
  for (const GroupRowLayout::Argument& argument : row.arguments) write_argument_words(plan, argument);
}

void SectionGenerator::write_argument_words(const GroupPlan& plan, const GroupRowLayout::Argument& argument) {
  const std::string value = operand(argument.register_number);
  const auto word = [&](size_t number, const std::string& bits) {
    body_.line("row[{}] = (dk_u32)({});", argument.word + number, bits);
  };
  const auto words = [&](size_t first, const std::string& bits) {
    word(first, bits);
    word(first + 1, fmt::format("({}) >> 32", bits));
  };
  switch (argument.physical) {
    case PhysicalType::Float32: return word(0, fmt::format("DK_F32_BITS({})", value));
    case PhysicalType::Float64: return words(0, fmt::format("DK_F64_BITS({})", value));
    case PhysicalType::Int64: return words(0, fmt::format("(dk_u64)({})", value));
    case PhysicalType::Int128:
      words(0, fmt::format("({}).lo", value));
      return words(2, fmt::format("(dk_u64)({}).hi", value));
    case PhysicalType::Text: {
      // A row without a value may have any code, which is no string's.
      const std::string there = rows_with_argument(plan, argument);
      body_.open("{}{{", there == all_rows ? "" : fmt::format("if (({} >> k & 1U) != 0) ", there));
      body_.line("const dk_text value = {};", value);
      words(0, "dk_text_address(DK_SPACES_ARG, value)");
      word(2, "value.length");
      return body_.close();
    }
    case PhysicalType::Interval:
      words(0, fmt::format("dk_words_of_interval({}).lo", value));
      words(2, fmt::format("(dk_u64)dk_words_of_interval({}).hi", value));
      return words(4, fmt::format("tablet[2] + (dk_u64){}", row_number()));
    default: return word(0, value);
  }
}

// That an aggregate of it takes.
std::string SectionGenerator::rows_with_argument(const GroupPlan& plan, const GroupRowLayout::Argument& argument) {
  std::string rows;
  for (size_t i = 0; i < plan.row.argument_of.size(); ++i) {
    if (plan.row.argument_of[i] < 0) continue;
    if (&plan.row.arguments[static_cast<size_t>(plan.row.argument_of[i])] != &argument) continue;
    if (plan.row.flag_of[i] < 0) return all_rows;
    rows += fmt::format("{}flag_{}_{}", rows.empty() ? "(" : " | ", plan.hash_table, i);
  }
  return rows + ")";
}

void SectionGenerator::write_counts_end(const GroupPlan& plan) {
  if (kernel_.stages_rows) {
    body_.open("if (kept != 0) {{");
    write_stage(plan);
    body_.close();
  }
  body_.line("DK_BARRIER();");
  body_.line(
      "if (pass == 0) for (dk_i32 i = DK_LOCAL_ID; i < 1 << bits_{0}; i += DK_GROUP_SIZE) starts_{0}[(dk_i64)i * {1} + "
      "{2}] = places_{0}[i];",
      plan.hash_table, grid_groups(), grid_group());
}

}  // namespace diptych::gpu
