// Grouping: from a row's keys to its group, and its values into the states of that group.
#include <bit>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/generator/section_generator.h"
#include "engine/gpu/groups/state_text.h"
#include "program/section_contents.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;
using Place = GroupPlan::Place;

namespace {

// Of 64 bits, for all tables of a section. With it a multiprocessor of compute capability 9.0 still runs 8 groups of
// 256, and OpenCL devices have it beside the scratch of the functions of a group; and less beside places of partitions,
// what pairs of rows are shared out with, or rows that are kept.
constexpr size_t most_shared_words = 3072, shared_words_beside_others = 1024;

// How the replicas of a part of a state are put together.
struct MergedState {
  const char* kind = nullptr;  // null: it is never in replicas, or no part
  bool is_locked = false;
};

MergedState merged_state(StateKind kind) {
  switch (kind) {
    case StateKind::Count:
    case StateKind::SumI64: return {"sum_u64"};
    case StateKind::SumF64: return {"sum_f64"};
    case StateKind::SumI128: return {"sum_i128"};
    case StateKind::Sum192: return {"sum192"};
    case StateKind::Least:
    case StateKind::Greatest: return {"greatest"};
    case StateKind::LeastI128:
    case StateKind::GreatestI128: return {"greatest_u128", true};
    case StateKind::Moments: return {"moments", true};
    default: return {};
  }
}

// The plan of the entries in shared memory, as far as the text of their states depends on it.
GroupPlan plan_of_entries(const GroupPlan& plan) {
  GroupPlan entries = plan;
  entries.states = plan.entry_states;
  entries.state_words = plan.entry_states.words;
  return entries;
}

const char* space_of(const GroupPlan& plan) { return plan.place == Place::Shared ? "local" : "global"; }
const char* qualifier_of(const GroupPlan& plan) { return plan.place == Place::Shared ? "DK_LOCAL" : "DK_GLOBAL"; }

}  // namespace

GroupPlan& SectionGenerator::group_plan(int32_t hash_table) {
  for (GroupPlan& plan : kernel_.groups) {
    if (plan.hash_table == hash_table) return plan;
  }
  return kernel_.groups.emplace_back();
}

GroupPlan SectionGenerator::planned_groups(int32_t address, size_t shared_words) const {
  const Instruction& instruction = at(address);
  const bool is_group = instruction.opcode == Opcode::Group;
  const int32_t number = is_group ? instruction.p3 : instruction.p1;
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(number)];
  std::vector<int32_t> codes(table.keys.size(), -1);
  for (size_t i = 0; is_group && i < codes.size(); ++i) {
    const Register& key = registers_[static_cast<size_t>(instruction.p2) + i];
    if (key.form == Form::Code && table.keys[i].physical == PhysicalType::Text)
      codes[i] = static_cast<int32_t>(key.column);
  }
  GroupPlan plan = plan_groups(table, number, codes, shared_words, shape_.most_dense_bytes, repeats());
  // Rows that have met other tables are in few of the possible groups: of one table's rows that is not known.
  if (!meets_index(program_, address_)) plan.entries = 0;
  return plan;
}

// All tables of the section: those of its Group opcodes, and those of its aggregates without groups. They share the
// memory of a group.
void SectionGenerator::plan_group_tables() {
  std::vector<int32_t> makers;
  uint32_t partitioned = 0;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const bool is_group = at(address).opcode == Opcode::Group;
    if (!is_group && at(address).opcode != Opcode::Aggregate) continue;
    const int32_t number = is_group ? at(address).p3 : at(address).p1;
    if (are_totals(number)) {
      if (totals_ >= 0 && totals_ != number) return refuse("totals of strings or intervals, of two tables");
      totals_ = number;
      continue;
    }
    GroupPlan& plan = group_plan(number);
    if (plan.hash_table == number) continue;
    plan.hash_table = number;
    makers.push_back(address);
    partitioned += planned_groups(address, most_shared_words).place == Place::Partitioned ? 1 : 0;
  }
  size_t shared_words = partitioned > 0 || repeats() || compacts() ? shared_words_beside_others : most_shared_words;
  for (size_t i = 0; i < makers.size(); ++i) {
    const int32_t address = makers[i];
    GroupPlan& plan = kernel_.groups[i];
    plan = planned_groups(address, shared_words);
    if (!plan.unsupported.empty()) return refuse(plan.unsupported);
    shared_words -= plan.place == Place::Shared ? plan.shared_words() : plan.entry_words();
    plan.is_shared = shares_groups(program_, address_, plan.hash_table);
    if (partitioned > 1) plan.partition_bits -= std::bit_width(partitioned - 1);
    if (repeats() || compacts()) plan.partition_bits -= 2;
    find_counting(plan, address);
    if (plan.place == Place::Partitioned) lay_out_row(plan, address);
    kernel_.stages_rows = may_stage_rows(plan);
    declare_group_table(plan);
  }
  if (totals_ >= 0) declare_totals();
  declare("cleared", "DK_BARRIER();");
}

// Whether aggregates without groups have states that numbered groups don't.
bool SectionGenerator::are_totals(int32_t number) const {
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(number)];
  return table.keys.empty() && layout_states(table, true).has(StateKind::Extreme);
}

// Aggregates that every row of its group reaches, with a value, need not note that one came; and where one of them
// counts rows, neither need the group.
void SectionGenerator::find_counting(GroupPlan& plan, int32_t address) {
  plan.always.assign(plan.states.aggregates.size(), false);
  if (at(address).opcode != Opcode::Group) return;
  for (int32_t next = address + 1; next < flow_.end; ++next) {
    const Instruction& instruction = at(next);
    if (info_of(instruction.opcode).kind == OpcodeKind::Jump || instruction.opcode == Opcode::Invalid ||
        flow_.target_number(next) >= 0)
      return;
    if (instruction.opcode != Opcode::Aggregate || instruction.p1 != plan.hash_table) continue;
    const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
    if (instruction.p2 >= 0 && info(instruction.p2).nullable) continue;
    plan.always[number] = true;
    if (!plan.is_shared && plan.states.aggregates[number].kind == StateKind::Count)
      plan.counting = static_cast<int>(number);
  }
}

std::string SectionGenerator::group_word(const GroupPlan& plan, GroupPart part, size_t index) {
  return word(Kind::Group, plan.hash_table, static_cast<int32_t>(part) + static_cast<int32_t>(index));
}

void SectionGenerator::declare_group_table(const GroupPlan& plan) {
  use_file("device/group_states.h");
  const int32_t table = plan.hash_table;
  declare("rows_out", "dk_u64 rows_out = 0;");
  if (plan.place == Place::Partitioned) return declare_partitions(plan);
  declare(fmt::format("states_{}", table),
          fmt::format("DK_GLOBAL dk_u64* states_{} = DK_AT(dk_u64, {});", table, group_word(plan, GroupPart::States)));
  for (size_t i = 0; i < plan.keys.size(); ++i) {
    const auto part = [&](size_t which) { return group_word(plan, GroupPart::FirstKey, 3 * i + which); };
    declare(fmt::format("low_{}_{}", table, i),
            fmt::format("const dk_i64 low_{0}_{1} = (dk_i64){2};", table, i, part(0)));
    if (plan.keys[i].nullable)
      declare(fmt::format("span_{}_{}", table, i),
              fmt::format("const dk_u32 span_{}_{} = (dk_u32){};", table, i, part(1)));
    declare(fmt::format("step_{}_{}", table, i),
            fmt::format("const dk_u32 step_{}_{} = (dk_u32){};", table, i, part(2)));
  }
  if (plan.entries > 0) declare_entries(plan);
  if (plan.place != Place::Shared) return;
  declare(fmt::format("local_{}", table),
          fmt::format("DK_SHARED DK_ALIGN16 dk_u64 local_{}[{}];", table, plan.shared_words()));
  declare(fmt::format("clear_{}", table),
          fmt::format("for (dk_i32 i = DK_LOCAL_ID; i < {1}; i += DK_GROUP_SIZE) local_{0}[i] = 0;", table,
                      plan.shared_words()));
}

void SectionGenerator::declare_entries(const GroupPlan& plan) {
  const int32_t table = plan.hash_table;
  const size_t words = plan.entries * plan.entry_states.words;
  declare(fmt::format("entries_{}", table), fmt::format("DK_SHARED DK_ALIGN16 dk_u64 entries_{}[{}];", table, words));
  declare(fmt::format("tags_{}", table), fmt::format("DK_SHARED dk_u32 tags_{}[{}];", table, plan.entries));
  declare(fmt::format("clear_{}", table),
          fmt::format("for (dk_i32 i = DK_LOCAL_ID; i < {1}; i += DK_GROUP_SIZE) entries_{0}[i] = 0;", table, words));
  declare(
      fmt::format("free_{}", table),
      fmt::format("for (dk_i32 i = DK_LOCAL_ID; i < {1}; i += DK_GROUP_SIZE) tags_{0}[i] = 0;", table, plan.entries));
}

// The groups of a work-item's rows: words before its states in shared memory, or its number in global memory.
void SectionGenerator::declare_group_registers() {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (at(address).opcode != Opcode::Group) continue;
    const GroupPlan& plan = group_plan(at(address).p3);
    body_.line("dk_u32 grouped_{} = 0;", at(address).p1);
    if (plan.place == Place::Partitioned)
      declare_flags(plan);
    else
      body_.line("dk_u32 g{}[DK_ROWS];", at(address).p1);
    if (plan.entries > 0) body_.line("dk_i32 e{}[DK_ROWS];", at(address).p1);
  }
}

void SectionGenerator::write_group(int32_t address) {
  const Instruction& instruction = at(address);
  const GroupPlan& plan = group_plan(instruction.p3);
  const int32_t out = instruction.p1;
  body_.line("grouped_{} = {};", out, sinking());
  if (address == flow_.last_sink) body_.line("rows_out += DK_POPCOUNT_U32({});", sinking());
  if (kernel_.notes_rows) body_.line("found |= grouped_{};", out);
  if (plan.place == Place::Partitioned) return write_group_counted(address, plan);
  if (is_partitioned()) body_.line("if (pass == 0) grouped_{} = 0;", out);
  write_group_numbered(address, plan);
  if (plan.entries == 0 && plan.counting >= 0) return;
  body_.open("DK_FOR_ROWS(k) if ((grouped_{} >> k & 1U) != 0) {{", out);
  if (plan.entries > 0)
    body_.line("e{0}[k] = dk_find_entry(tags_{1}, {2}, g{0}[k]);", out, plan.hash_table, plan.entries);
  if (plan.counting < 0)
    for_each_place(plan, out, [&](const GroupPlan& there, const std::string& states) {
      body_.line("dk_note_{}(({} dk_u32*)({}) + 1, 1U);", space_of(there), qualifier_of(there), states);
    });
  body_.close();
}

// Calls write(plan, text of where the states of row k's group are) for the place of its states; or for both that they
// may be in, either under a condition.
template <typename Write>
void SectionGenerator::for_each_place(const GroupPlan& plan, int32_t group, const Write& write) {
  if (plan.entries == 0 || group < 0) return write(plan, group_states(plan, group));
  GroupPlan entries = plan_of_entries(plan);
  entries.place = Place::Shared;
  body_.open("if (e{}[k] >= 0) {{", group);
  write(entries, fmt::format("entries_{} + e{}[k] * {}", plan.hash_table, group, entries.state_words));
  body_.close();
  body_.open("if (e{}[k] < 0) {{", group);
  write(plan, group_states(plan, group));
  body_.close();
}

// Where the states of row k's group are.
std::string SectionGenerator::group_states(const GroupPlan& plan, int32_t group) {
  const int32_t table = plan.hash_table;
  if (plan.place == Place::Shared) {
    if (group < 0) return fmt::format("local_{} + (DK_LOCAL_ID & {}) * {}", table, plan.replicas - 1, plan.stride());
    return fmt::format("local_{} + g{}[k]", table, group);
  }
  if (group < 0) return fmt::format("states_{}", table);
  return fmt::format("states_{} + (dk_u64)g{}[k] * {}", table, group, plan.state_words);
}

void SectionGenerator::write_group_numbered(int32_t address, const GroupPlan& plan) {
  const Instruction& instruction = at(address);
  body_.open("DK_FOR_ROWS(k) {{");
  body_.line("dk_u32 group = 0;");
  for (size_t i = 0; i < plan.keys.size(); ++i) {
    const int32_t key = instruction.p2 + static_cast<int32_t>(i);
    const std::string place = fmt::format("(dk_u32)((dk_i64)({}) - low_{}_{})", operand(key), plan.hash_table, i);
    const std::string there = known(key);
    const std::string step = fmt::format("step_{}_{}", plan.hash_table, i);
    if (there == all_rows)
      body_.line("group += {} * {};", place, step);
    else
      body_.line("group += (({} >> k & 1U) != 0 ? {} : span_{}_{}) * {};", there, place, plan.hash_table, i, step);
  }
  if (plan.place == Place::Shared) {
    body_.line("g{}[k] = (group * {}U + ((dk_u32)DK_LOCAL_ID & {}U)) * {}U;", instruction.p1, plan.replicas,
               plan.replicas - 1, plan.stride());
  } else {
    body_.line("g{}[k] = group;", instruction.p1);
  }
  body_.close();
}

// ---- aggregates

void SectionGenerator::write_group_aggregate(int32_t address) {
  const Instruction& instruction = at(address);
  const GroupPlan& plan = group_plan(instruction.p1);
  const int32_t argument = instruction.p2, group = instruction.p3;
  const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
  std::string rows = sinking();
  if (address == flow_.last_sink) body_.line("rows_out += DK_POPCOUNT_U32({});", rows);
  if (group >= 0) rows = both(rows, fmt::format("grouped_{}", group));
  if (argument >= 0) rows = both(rows, known(argument));
  if (group < 0 && is_partitioned()) rows = both(rows, second_pass);
  if (plan.place == Place::Partitioned) return write_flag(plan, number, rows);
  const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(plan.hash_table)];
  body_.open("{{");
  body_.line("const dk_u32 rows = {};", rows);
  body_.open("DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) {{");
  for_each_place(plan, group, [&](const GroupPlan& there, const std::string& states) {
    const StateText text(there, table, space_of(there));
    body_.line("{} dk_u64* at = {};", qualifier_of(there), states);
    text.note(body_, number);
    if (argument >= 0)
      text.update(body_, number, info(argument).physical, operand(argument), address);
    else
      text.update(body_, number, PhysicalType::Int64, "1", address);
  });
  body_.close();
  body_.close();
}

// ---- the end of the kernel: replicas into global memory

void SectionGenerator::write_groups_end() {
  for (const GroupPlan& plan : kernel_.groups) {
    if (plan.place == Place::Shared) write_replicas_end(plan);
    if (plan.entries > 0) write_entries_end(plan);
    if (plan.place == Place::Partitioned) write_counts_end(plan);
  }
  if (is_partitioned()) body_.line("if (pass == 0) rows_out = 0;");
  // The host makes room for as many as the table that takes most.
  for (const GroupPlan& plan : kernel_.groups)
    if (plan.place == Place::Partitioned && repeats())
      body_.line("if (pass == 0 && counted_{0} > rows_out) rows_out = counted_{0};", plan.hash_table);
  body_.line("rows_out = dk_block_sum_u64(rows_out, scratch);");
  body_.line("if (DK_LOCAL_ID == 0) dk_atomic_add_global_u64(control + 1, rows_out);");
}

void SectionGenerator::write_replicas_end(const GroupPlan& plan) {
  body_.line("DK_BARRIER();");
  const std::string groups = fmt::format("(dk_i32){}", group_word(plan, GroupPart::Groups));
  const size_t stride = plan.stride();
  const auto merge = [&](size_t turn, const char* kind, size_t first_word, bool locked) {
    // Each state is the work of other warps, as groups may be few.
    body_.open("for (dk_i32 group = (DK_LOCAL_ID + {}) & (DK_GROUP_SIZE - 1); group < {}; group += DK_GROUP_SIZE) {{",
               turn * 32 % group_size, groups);
    body_.line("DK_GLOBAL dk_u64* to = states_{} + (dk_i64)group * {};", plan.hash_table, plan.state_words);
    const std::string lock = locked ? fmt::format("(DK_GLOBAL dk_u32*)(to + {}), ", plan.state_words - 1) : "";
    body_.line("dk_merge_{}(local_{} + group * {} + {}, {}, {}, {}to + {});", kind, plan.hash_table,
               static_cast<size_t>(plan.replicas) * stride, first_word, plan.replicas, stride, lock, first_word);
    body_.close();
  };
  for (size_t i = 0; i < plan.states.note_words; ++i) merge(0, "notes", i, false);
  for (size_t i = 0; i < plan.states.parts.size(); ++i) {
    const StateLayout& state = plan.states.parts[i];
    if (const MergedState merged = merged_state(state.kind); merged.kind != nullptr)
      merge(i + 1, merged.kind, state.first_word, merged.is_locked);
  }
}

void SectionGenerator::write_entries_end(const GroupPlan& plan) {
  const int32_t table = plan.hash_table;
  body_.line("DK_BARRIER();");
  body_.open("for (dk_i32 entry = DK_LOCAL_ID; entry < {}; entry += DK_GROUP_SIZE) {{", plan.entries);
  body_.line("if (tags_{}[entry] == 0) continue;", table);
  body_.line("DK_LOCAL const dk_u64* from = entries_{} + entry * {};", table, plan.entry_states.words);
  body_.line("DK_GLOBAL dk_u64* to = states_{0} + (dk_i64)(tags_{0}[entry] - 1) * {1};", table, plan.state_words);
  for (size_t i = 0; i < plan.states.note_words; ++i) body_.line("dk_merge_notes(from + {0}, 1, 1, to + {0});", i);
  for (size_t i = 0; i < plan.states.parts.size(); ++i) {
    const StateLayout &from = plan.entry_states.parts[i], &to = plan.states.parts[i];
    const char* kind = from.kind != to.kind ? "sum_i64" : merged_state(from.kind).kind;
    body_.line("dk_merge_{}(from + {}, 1, 1, to + {});", kind, from.first_word, to.first_word);
  }
  body_.close();
}

}  // namespace diptych::gpu
