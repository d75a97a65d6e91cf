// Grouping: from a row's keys to its group, and its values into the states of that group.
#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/generator/section_generator.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;
using Place = GroupPlan::Place;

namespace {

// Of 64 bits, for all tables of a section. With it a multiprocessor of compute capability 9.0 still runs 8 groups of
// 256, and OpenCL devices have it beside the scratch of the functions of a group.
constexpr size_t most_shared_words = 3072;

const char* space_of(const GroupPlan& plan) { return plan.place == Place::Shared ? "local" : "global"; }
const char* qualifier_of(const GroupPlan& plan) { return plan.place == Place::Shared ? "DK_LOCAL" : "DK_GLOBAL"; }

}  // namespace

GroupPlan& SectionGenerator::group_plan(int32_t hash_table) {
  for (GroupPlan& plan : kernel_.groups) {
    if (plan.hash_table == hash_table) return plan;
  }
  return kernel_.groups.emplace_back();
}

// All tables of the section: those of its Group opcodes, and those of its aggregates without groups.
void SectionGenerator::plan_group_tables() {
  size_t shared_words = most_shared_words;
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    const Instruction& instruction = at(address);
    const bool is_group = instruction.opcode == Opcode::Group;
    if (!is_group && instruction.opcode != Opcode::Aggregate) continue;
    const int32_t number = is_group ? instruction.p3 : instruction.p1;
    GroupPlan& plan = group_plan(number);
    if (plan.hash_table == number) continue;
    const HashTableInfo& table = program_.hash_tables[static_cast<size_t>(number)];
    std::vector<int32_t> codes(table.keys.size(), -1);
    for (size_t i = 0; is_group && i < codes.size(); ++i) {
      const Register& key = reg(instruction.p2 + static_cast<int32_t>(i));
      if (key.form == Form::Code && table.keys[i].physical == PhysicalType::Text)
        codes[i] = static_cast<int32_t>(key.column);
    }
    plan = plan_groups(table, number, codes, shared_words);
    if (!plan.unsupported.empty()) return refuse(plan.unsupported);
    if (plan.place == Place::Shared) shared_words -= plan.shared_words();
    find_counting(plan, address);
    declare_group_table(plan);
  }
  declare("cleared", "DK_BARRIER();");
}

// Aggregates that every row of its group reaches, with a value, need not note that one came; and where one of them
// counts rows, neither need the group.
void SectionGenerator::find_counting(GroupPlan& plan, int32_t address) {
  if (at(address).opcode != Opcode::Group) return;
  for (int32_t next = address + 1; next < flow_.end; ++next) {
    const Instruction& instruction = at(next);
    if (info_of(instruction.opcode).kind == OpcodeKind::Jump || instruction.opcode == Opcode::Invalid ||
        flow_.target_number(next) >= 0)
      return;
    if (instruction.opcode != Opcode::Aggregate || instruction.p1 != plan.hash_table) continue;
    const auto number = static_cast<size_t>(std::get<int64_t>(instruction.p4));
    if (instruction.p2 >= 0 && info(instruction.p2).nullable) continue;
    plan.always |= came_bit(number);
    if (plan.states.aggregates[number].kind == StateKind::Count) plan.counting = static_cast<int>(number);
  }
}

std::string SectionGenerator::group_word(const GroupPlan& plan, GroupPart part, size_t index) {
  return word(Kind::Group, plan.hash_table, static_cast<int32_t>(part) + static_cast<int32_t>(index));
}

void SectionGenerator::declare_group_table(const GroupPlan& plan) {
  use_file("device/group_states.h");
  const int32_t table = plan.hash_table;
  declare("rows_out", "dk_u64 rows_out = 0;");
  declare(fmt::format("states_{}", table),
          fmt::format("DK_GLOBAL dk_u64* states_{} = DK_AT(dk_u64, {});", table, group_word(plan, GroupPart::States)));
  if (plan.place == Place::Hashed) {
    use_file("device/group_table.h");
    const auto pointer = [&](const char* name, const char* type, GroupPart part) {
      const std::string variable = fmt::format("{}_{}", name, table);
      declare(variable, fmt::format("DK_GLOBAL {0}* {1} = DK_AT({0}, {2});", type, variable, group_word(plan, part)));
    };
    pointer("table", "dk_u64", GroupPart::Control);
    pointer("slots", "dk_u32", GroupPart::Slots);
    pointer("keys", "dk_u64", GroupPart::Keys);
    return;
  }
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
  if (plan.place != Place::Shared) return;
  declare(fmt::format("local_{}", table),
          fmt::format("DK_SHARED DK_ALIGN16 dk_u64 local_{}[{}];", table, plan.shared_words()));
  declare(fmt::format("clear_{}", table),
          fmt::format("for (dk_i32 i = DK_LOCAL_ID; i < {1}; i += DK_GROUP_SIZE) local_{0}[i] = 0;", table,
                      plan.shared_words()));
}

// The groups of a work-item's rows: words before its states in shared memory, or its number in global memory.
void SectionGenerator::declare_group_registers() {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (at(address).opcode != Opcode::Group) continue;
    const GroupPlan& plan = group_plan(at(address).p3);
    if (plan.place != Place::Hashed || !plan.states.aggregates.empty())
      body_.line("dk_u32 g{}[DK_ROWS];", at(address).p1);
    body_.line("dk_u32 grouped_{} = 0;", at(address).p1);
  }
}

void SectionGenerator::write_group(int32_t address) {
  const Instruction& instruction = at(address);
  const GroupPlan& plan = group_plan(instruction.p3);
  const int32_t out = instruction.p1;
  body_.line("grouped_{} = {};", out, sinking());
  if (address == flow_.last_sink) body_.line("rows_out += DK_POPCOUNT_U32({});", sinking());
  if (plan.place == Place::Hashed)
    write_group_hashed(address, plan);
  else
    write_group_numbered(address, plan);
  if (plan.place == Place::Hashed || plan.counting >= 0) return;
  body_.open("DK_FOR_ROWS(k) if ((grouped_{} >> k & 1U) != 0) {{", out);
  body_.line("dk_note_{}(({} dk_u32*)({}) + 1, 1U);", space_of(plan), qualifier_of(plan), group_states(plan, out));
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

void SectionGenerator::write_group_hashed(int32_t address, const GroupPlan& plan) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1, table = plan.hash_table;
  body_.open("DK_FOR_ROWS(k) if ((grouped_{} >> k & 1U) != 0) {{", out);
  body_.line("dk_u64 key[{}];", plan.key_words);
  if (plan.has_null_word) body_.line("key[0] = 0;");
  for (size_t i = 0; i < plan.keys.size(); ++i) write_key_words(instruction.p2 + static_cast<int32_t>(i), plan, i);
  body_.line(
      "const dk_i64 slot = dk_group_find_or_add(table_{0}, slots_{0}, keys_{0}, {1}, {2}, {3}, key, dk_hash_words(key, "
      "{3}));",
      table, group_word(plan, GroupPart::SlotCount), group_word(plan, GroupPart::Limit), plan.key_words);
  if (!plan.states.aggregates.empty()) body_.line("g{}[k] = (dk_u32)slot;", out);
  body_.line("if (slot < 0) grouped_{} &= ~(1U << k);", out);
  body_.close();
}

void SectionGenerator::write_key_words(int32_t key, const GroupPlan& plan, size_t number) {
  const GroupKeyPlan& place = plan.keys[number];
  const std::string there = known(key);
  const bool is_wide = place.physical == PhysicalType::Int128;
  if (there != all_rows) {
    body_.line("key[{}] = 0;", place.word);
    if (is_wide) body_.line("key[{}] = 0;", place.word + 1);
    body_.line("if (({} >> k & 1U) == 0) key[0] |= DK_U64({});", there, uint64_t{1} << number);
    body_.open("if (({} >> k & 1U) != 0) {{", there);
  }
  const std::string value = place.dictionary_column >= 0 ? fmt::format("r{}[k]", key) : operand(key);
  switch (place.physical) {
    case PhysicalType::Int128:
      body_.line("key[{}] = ({}).lo;", place.word, value);
      body_.line("key[{}] = (dk_u64)({}).hi;", place.word + 1, value);
      break;
    case PhysicalType::Float32:
    case PhysicalType::Float64: body_.line("key[{}] = dk_key_word_f64((dk_f64)({}));", place.word, value); break;
    case PhysicalType::Text: body_.line("key[{}] = (dk_u64)({});", place.word, value); break;
    default: body_.line("key[{}] = (dk_u64)(dk_i64)({});", place.word, value);
  }
  if (there != all_rows) body_.close();
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
  body_.open("{{");
  body_.line("const dk_u32 rows = {};", rows);
  body_.open("DK_FOR_ROWS(k) if ((rows >> k & 1U) != 0) {{");
  body_.line("{} dk_u64* at = {};", qualifier_of(plan), group_states(plan, group));
  if (plan.states.aggregates[number].kind != StateKind::Count &&
      ((plan.always & came_bit(number)) == 0 || plan.counting < 0))
    body_.line("dk_note_{}(({} dk_u32*)at, {}U);", space_of(plan), qualifier_of(plan), came_bit(number));
  write_group_update(address, plan, number);
  body_.close();
  body_.close();
}

// Takes the argument of row k into the states `at`.
void SectionGenerator::write_group_update(int32_t address, const GroupPlan& plan, size_t number) {
  const StateLayout& state = plan.states.aggregates[number];
  const std::string space = space_of(plan), qualifier = qualifier_of(plan);
  const std::string place = fmt::format("at + {}", state.first_word);
  if (state.kind == StateKind::Count) return body_.line("dk_atomic_add_{}_u64({}, 1);", space, place);
  const int32_t argument = at(address).p2;
  const PhysicalType physical = info(argument).physical;
  const std::string value = operand(argument), wide = widened(value, physical, PhysicalType::Int128);
  const bool is_real = physical == PhysicalType::Float32 || physical == PhysicalType::Float64;
  const std::string real = fmt::format("(dk_f64)({})", value);
  const std::string key =
      is_real ? fmt::format("dk_key_f64({})", real) : fmt::format("dk_key_i64((dk_i64)({}))", value);
  const std::string lock = fmt::format("({} dk_u32*)(at + {})", qualifier, plan.state_words - 1);
  const auto note_not_finite = [&] {
    body_.line("if (!dk_is_finite_f64({})) dk_note_{}(({} dk_u32*)at, {}U);", real, space, qualifier,
               not_finite_bit(number));
  };
  switch (state.kind) {
    case StateKind::Count: return;
    case StateKind::SumI64: return body_.line("dk_atomic_add_{}_u64({}, (dk_u64)(dk_i64)({}));", space, place, value);
    case StateKind::SumI128: return body_.line("dk_atomic_add_{}_i128({}, {});", space, place, wide);
    case StateKind::SumF64:
      body_.line("dk_atomic_add_{}_f64(({} dk_f64*)({}), {});", space, qualifier, place, real);
      return note_not_finite();
    case StateKind::Sum192:
      if (program_.hash_tables[static_cast<size_t>(plan.hash_table)].aggregates[number].state !=
          AggregateState::SumSquares)
        return body_.line("dk_atomic_add_{}_sum192({}, dk_sum192_of_i128({}));", space, place, wide);
      body_.line("dk_i32 error = 0;");
      body_.line("dk_atomic_add_{}_sum192({}, dk_sum192_of_i128(dk_square_i128({}, &error)));", space, place, wide);
      return body_.line("DK_NOTE_FAILURE(failure, error, 1, {});", address);
    case StateKind::Least: return body_.line("dk_raise_{}_u64({}, ~{});", space, place, key);
    case StateKind::Greatest: return body_.line("dk_raise_{}_u64({}, {});", space, place, key);
    case StateKind::LeastI128:
      return body_.line("dk_locked_raise_{}_u128({}, {}, dk_complement_u128(dk_key_i128({})));", space, lock, place,
                        wide);
    case StateKind::GreatestI128:
      return body_.line("dk_locked_raise_{}_u128({}, {}, dk_key_i128({}));", space, lock, place, wide);
    case StateKind::Moments:
      body_.line("dk_locked_add_{}_moments({}, ({} dk_f64*)({}), dk_moments_of({}));", space, lock, qualifier, place,
                 real);
      return note_not_finite();
  }
}

// What follows would be thrown away.
void SectionGenerator::write_overflow_exit() {
  for (const GroupPlan& plan : kernel_.groups) {
    if (plan.place == Place::Hashed) body_.line("if (dk_load_volatile_u64(table_{} + 1) != 0) break;", plan.hash_table);
  }
}

// ---- the end of the kernel: replicas into global memory

void SectionGenerator::write_groups_end() {
  for (const GroupPlan& plan : kernel_.groups) {
    if (plan.place == Place::Shared) write_replicas_end(plan);
  }
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
  merge(0, "notes", 0, false);
  for (size_t i = 0; i < plan.states.aggregates.size(); ++i) {
    const StateLayout& state = plan.states.aggregates[i];
    switch (state.kind) {
      case StateKind::Count:
      case StateKind::SumI64: merge(i + 1, "sum_u64", state.first_word, false); break;
      case StateKind::SumF64: merge(i + 1, "sum_f64", state.first_word, false); break;
      case StateKind::SumI128: merge(i + 1, "sum_i128", state.first_word, false); break;
      case StateKind::Sum192: merge(i + 1, "sum192", state.first_word, false); break;
      case StateKind::Least:
      case StateKind::Greatest: merge(i + 1, "greatest", state.first_word, false); break;
      case StateKind::LeastI128:
      case StateKind::GreatestI128: merge(i + 1, "greatest_u128", state.first_word, true); break;
      case StateKind::Moments: merge(i + 1, "moments", state.first_word, true); break;
    }
  }
}

}  // namespace diptych::gpu
