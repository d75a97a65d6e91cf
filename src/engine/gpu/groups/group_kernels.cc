#include "engine/gpu/groups/group_kernels.h"

#include <algorithm>

#include "engine/gpu/generator/kernel_writer.h"
#include "engine/gpu/generator/scalar_text.h"
#include "engine/gpu/groups/state_text.h"
#include "engine/gpu/section_kernel.h"
#include "kernel/kernel_library.h"

namespace diptych::gpu {
namespace {

// Of hashes, by which a work-group takes its turns.
constexpr int most_part_bits = 8;

// Rows that a work-item has under way.
constexpr int rows_at_once = 4;

class GroupKernelText {
 public:
  GroupKernelText(const GroupPlan& plan, const HashTableInfo& table, int group_items) : plan_(plan), table_(table) {
    kernels_.group_items = group_items;
    kernels_.state_row = plan.key_words + plan.states.words;
    kernels_.parameters =
        static_cast<size_t>(GroupWord::Count) + 2 * (plan.keys.size() + plan.states.aggregates.size());
    kernels_.slot_bytes = 4 + 8 * (plan.key_words + plan.state_words);
  }

  GroupKernels make() {
    kernels_.group = {of_items(kernels_.group_items, write_group()), "group_slices"};
    kernels_.merge = {of_items(group_size, write_merge()), "merge_groups"};
    kernels_.show = {of_items(group_size, write_show()), "show_groups"};
    return std::move(kernels_);
  }

 private:
  static std::string of_items(int items, const std::string& text) {
    return fmt::format("#define DK_GROUP_SIZE {}\n", items) + text;
  }
  static std::string word(GroupWord which, size_t more = 0) {
    return fmt::format("parameters.word[{}]", static_cast<size_t>(which) + more);
  }
  static std::string address(const char* type, GroupWord which) {
    return fmt::format("DK_AT({}, {})", type, word(which));
  }

  std::string text_of(const std::string& entry, const std::string& lines) const {
    std::vector<std::string_view> files = {"numeric.h", "device/section.h", "device/look_back.h",
                                           "device/group_states.h", "device/group_rows.h"};
    const auto is_interval = [](const GroupKeyPlan& key) { return key.physical == PhysicalType::Interval; };
    if (std::any_of(plan_.keys.begin(), plan_.keys.end(), is_interval)) files.push_back("date.h");
    if (plan_.states.has(StateKind::Extreme)) files.push_back("device/group_extremes.h");
    if (plan_.states.has(StateKind::Exact)) files.push_back("device/exact_groups.h");
    const std::string text =
        fmt::format("#define DK_PARAMETER_WORDS {}\n#define DK_ROWS 4\n", kernels_.parameters) + kernel_text(files);
    return text +
           fmt::format(
               "DK_KERNEL void {}(DK_GLOBAL dk_u8* memory, DK_GLOBAL dk_u8* mapped, const dk_parameters "
               "parameters) {{\n",
               entry) +
           lines + "}\n";
  }

  // The words `key` out of the row.
  void write_keys(KernelWriter& out) const {
    out.line("dk_u64 key[{}];", plan_.key_words);
    if (plan_.has_null_word) out.line("key[0] = 0;");
    for (size_t i = 0; i < plan_.keys.size(); ++i) {
      const GroupKeyPlan& key = plan_.keys[i];
      const GroupRowLayout::Key& from = plan_.row.keys[i];
      if (from.flag >= 0) out.line("key[0] |= (dk_u64)(row[{}] >> {} & 1U) << {};", from.flag / 32, from.flag % 32, i);
      if (key.physical == PhysicalType::Int32) {
        out.line("key[{}] = (dk_u64)(dk_i64)(dk_i32)row[{}];", key.word, from.word);
        continue;
      }
      for (size_t part = 0; part < key.row_words(); ++part)
        out.line("key[{}] {} (dk_u64)row[{}]{};", key.word_in_row(part / 2),
                 part % 2 == 0 ? "=" : "|=", from.word + part, part % 2 == 0 ? "" : " << 32");
      if (key.physical != PhysicalType::Interval) continue;
      out.line("const dk_i128 span_{} = dk_span_of_interval(dk_interval_of_words(key[{}], key[{}]));", i, key.carried,
               key.carried + 1);
      out.line("key[{}] = span_{}.lo;", key.word, i);
      out.line("key[{}] = (dk_u64)span_{}.hi;", key.word + 1, i);
    }
  }

  // The argument of an aggregate out of the row, as a register of its form.
  std::string argument(size_t number) const {
    if (plan_.row.argument_of[number] < 0) return "1";
    const GroupRowLayout::Argument& from = plan_.row.arguments[static_cast<size_t>(plan_.row.argument_of[number])];
    const auto pair = [&](size_t first) {
      return fmt::format("(row[{}] | (dk_u64)row[{}] << 32)", from.word + first, from.word + first + 1);
    };
    switch (from.physical) {
      case PhysicalType::Bool: return fmt::format("(dk_bool)row[{}]", from.word);
      case PhysicalType::Int32: return fmt::format("(dk_i32)row[{}]", from.word);
      case PhysicalType::Float32: return fmt::format("DK_F32_OF_BITS(row[{}])", from.word);
      case PhysicalType::Float64: return fmt::format("DK_F64_OF_BITS({})", pair(0));
      case PhysicalType::Int128: return fmt::format("dk_make_i128((dk_i64){}, {})", pair(2), pair(0));
      case PhysicalType::Text:
        return fmt::format("dk_make_text(DK_AT(const char, {}), (dk_i32)row[{}])", pair(0), from.word + 2);
      case PhysicalType::Interval: return fmt::format("dk_interval_of_words({}, {})", pair(0), pair(2));
      default: return fmt::format("(dk_i64){}", pair(0));
    }
  }

  // Which of equal intervals is kept depends on it.
  void write_row_number(KernelWriter& out, size_t number) const {
    if (plan_.row.argument_of[number] < 0) return;
    const GroupRowLayout::Argument& from = plan_.row.arguments[static_cast<size_t>(plan_.row.argument_of[number])];
    if (from.physical != PhysicalType::Interval) return;
    out.line("const dk_u64 row_number = row[{}] | (dk_u64)row[{}] << 32;", from.word + 4, from.word + 5);
  }

  void write_updates(KernelWriter& out) const {
    const StateText states(plan_, table_, "local");
    out.line("DK_LOCAL dk_u64* at = states + slot * {};", plan_.state_words);
    for (size_t i = 0; i < plan_.states.aggregates.size(); ++i) {
      const int flag = plan_.row.flag_of[i];
      if (flag == GroupRowLayout::none_counts) continue;
      if (flag >= 0)
        out.open("if ((row[{}] >> {} & 1U) != 0) {{", flag / 32, flag % 32);
      else
        out.open("{{");
      states.note(out, i);
      const int from = plan_.row.argument_of[i];
      write_row_number(out, i);
      const PhysicalType physical =
          from < 0 ? PhysicalType::Int64 : plan_.row.arguments[static_cast<size_t>(from)].physical;
      states.update(out, i, physical, argument(i), static_cast<int>(i));
      out.close();
    }
  }

  // The columns of row `place` of the result, out of `key` and `s`.
  void write_result(KernelWriter& out) const {
    const auto columns = static_cast<size_t>(GroupWord::Count);
    const auto store = [&](size_t column, const char* type) {
      out.line("DK_AT({}, parameters.word[{}])[place] = value;", type, columns + 2 * column);
      if (is_nullable_result(plan_, column))
        out.line(
            "if (!there) dk_atomic_and_global_u32(DK_AT(dk_u32, parameters.word[{}]) + (place >> 5), ~(1U << (place & "
            "31)));",
            columns + 2 * column + 1);
    };
    for (size_t i = 0; i < plan_.keys.size(); ++i) {
      const GroupKeyPlan& key = plan_.keys[i];
      const char* type = key.is_string()                      ? "dk_i128"
                         : key.physical == PhysicalType::Text ? "dk_u32"
                                                              : type_text(key.physical);
      out.open("{{");
      if (key.nullable) out.line("const dk_bool there = (key[0] >> {} & 1U) == 0;", i);
      switch (key.physical) {
        case PhysicalType::Float32:
        case PhysicalType::Float64: out.line("const {0} value = ({0})DK_F64_OF_BITS(key[{1}]);", type, key.word); break;
        case PhysicalType::Int128:
          out.line("const dk_i128 value = dk_make_i128((dk_i64)key[{}], key[{}]);", key.word + 1, key.word);
          break;
        case PhysicalType::Interval:
          out.line("const dk_interval value = dk_interval_of_words(key[{}], key[{}]);", key.carried, key.carried + 1);
          break;
        default:
          if (key.is_string())  // a dk_text_row
            out.line("const dk_i128 value = dk_make_i128((dk_i64)(dk_u32)key[{}], key[{}]);", key.word, key.carried);
          else
            out.line("const {0} value = ({0})key[{1}];", type, key.word);
      }
      store(i, type);
      out.close();
    }
    const StateText states(plan_, table_, "local");
    for (size_t i = 0; i < plan_.states.aggregates.size(); ++i) {
      out.open("{{");
      states.finish(out, i, static_cast<int>(i));
      const PhysicalType physical = table_.aggregates[i].result.physical;
      store(plan_.keys.size() + i, physical == PhysicalType::Text ? "dk_i128" : type_text(physical));
      out.close();
    }
  }

  void declare_control(KernelWriter& out) const {
    out.line("DK_SCRATCH(scratch);");
    out.line("DK_GLOBAL dk_u64* control = {};", address("dk_u64", GroupWord::Control));
    out.line("dk_u64 failure = 0;");
  }

  void write_failure(KernelWriter& out) const {
    out.line("if (failure != 0) dk_atomic_cas_global_u64(control + 3, 0, failure);");
  }

  // Gives up the groups of the table in shared memory, which is empty then.
  void write_flush(KernelWriter& out) const {
    const size_t keys = plan_.key_words, states = plan_.state_words;
    out.line("DK_BARRIER();");
    out.line("const dk_u32 found = used[0];");
    out.line("if (DK_LOCAL_ID == 0) begin[0] = dk_atomic_add_global_u64(control + (whole ? 1 : 2), found);");
    out.line("DK_BARRIER();");
    out.line("const dk_u64 first_place = begin[0];");
    out.line("if (DK_LOCAL_ID == 0) used[0] = 0;");
    out.open("for (dk_i32 slot = DK_LOCAL_ID; slot < slot_count; slot += DK_GROUP_SIZE) if (slots[slot] != 0) {{");
    out.line("dk_u64 key[{}];", keys);
    out.line("dk_u64 s[{}];", plan_.states.words);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {0}; i++) key[i] = keys[slot * {0} + i];", keys);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {}; i++) s[i] = states[slot * {} + i];", plan_.states.words, states);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {0}; i++) states[slot * {0} + i] = 0;", states);
    out.line("slots[slot] = 0;");
    out.line("const dk_u64 place = first_place + dk_atomic_add_local_u32(used + 1, 1);");
    out.open("if (whole) {{");
    out.open("if (place < capacity) {{");
    write_result(out);
    out.close();
    out.close();
    out.open("if (!whole && place < state_capacity) {{");
    out.line("DK_GLOBAL dk_u64* to = {} + place * {};", address("dk_u64", GroupWord::States), kernels_.state_row);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {}; i++) to[i] = key[i];", keys);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {}; i++) to[{} + i] = s[i];", plan_.states.words, keys);
    out.close();
    out.close();
    out.line("DK_BARRIER();");
    out.line("if (DK_LOCAL_ID == 0) used[1] = 0;");
    out.line("DK_BARRIER();");
  }

  // The table is full: groups come like those so far, so that it says how many turns there are to be.
  static void write_parting(KernelWriter& out) {
    out.line("if (seen > end - first) seen = end - first;");
    out.line("dk_i32 more_bits = 1;");
    out.line("while ((end - first) * 4 > seen * 3 << more_bits) more_bits++;");
    out.line("anew = whole && part_bits + more_bits <= {};", most_part_bits);
    out.open("if (anew) {{");
    out.line("part_bits += more_bits;");
    out.line("part <<= more_bits;");
    out.line("DK_BARRIER();");
    out.close();
  }

  std::string write_group() const {
    KernelWriter out(1);
    const size_t row_words = plan_.row.words;
    declare_control(out);
    out.line("DK_SHARED_ROOM(room, {});", usual_table_bytes / 8);
    out.line("const dk_i32 slot_count = (dk_i32){};", word(GroupWord::SharedSlots));
    out.line("const dk_u32 limit = (dk_u32)slot_count - (dk_u32)slot_count / 8;");
    out.line("DK_LOCAL dk_u64* keys = room;");
    out.line("DK_LOCAL dk_u64* states = keys + slot_count * {};", plan_.key_words);
    out.line("DK_LOCAL dk_u32* slots = (DK_LOCAL dk_u32*)(states + slot_count * {});", plan_.state_words);
    out.line("DK_SHARED dk_u64 begin[1];");
    out.line("DK_SHARED dk_u32 used[3];  // groups in the table, given up; rows looked at when one found no room");
    out.line("DK_GLOBAL const dk_u32* rows = {};", address("const dk_u32", GroupWord::Rows));
    out.line("DK_GLOBAL const dk_u32* starts = {};", address("const dk_u32", GroupWord::Starts));
    out.line("const dk_i64 counts = (dk_i64){};", word(GroupWord::Counts));
    out.line("DK_GLOBAL const dk_u32* first_slices = {};", address("const dk_u32", GroupWord::FirstSlices));
    out.line("const dk_i32 partition_bits = (dk_i32){};", word(GroupWord::PartitionBits));
    out.line("const dk_i32 partitions = 1 << partition_bits;");
    out.line("const dk_u64 slice_rows = {};", word(GroupWord::SliceRows));
    out.line("const dk_u64 capacity = {};", word(GroupWord::Capacity));
    out.line("const dk_u64 state_capacity = {};", word(GroupWord::StateCapacity));
    out.line("const dk_i64 slices = (dk_i64)first_slices[partitions];");
    out.line("for (dk_i32 i = DK_LOCAL_ID; i < slot_count; i += DK_GROUP_SIZE) slots[i] = 0;");
    out.line("for (dk_i32 i = DK_LOCAL_ID; i < slot_count * {}; i += DK_GROUP_SIZE) states[i] = 0;", plan_.state_words);
    out.line("if (DK_LOCAL_ID < 3) used[DK_LOCAL_ID] = 0;");
    out.line("DK_BARRIER();");
    out.open(
        "for (dk_i64 slice = dk_next_tile(control, scratch); slice < slices; slice = dk_next_tile(control, scratch)) "
        "{{");
    out.line("const dk_i32 partition = dk_find_part(first_slices, partitions, (dk_u32)slice);");
    out.line(
        "const dk_u64 first = starts[partition * counts] + ((dk_u64)slice - first_slices[partition]) * slice_rows;");
    out.line("const dk_u64 last = starts[(partition + 1) * counts];");
    out.line("const dk_u64 end = first + slice_rows < last ? first + slice_rows : last;");
    out.line("dk_bool whole = {} != 0 && first_slices[partition + 1] - first_slices[partition] == 1;",
             word(GroupWord::IsComplete));
    out.line("dk_i32 part_bits = 0;  // behind those of the partition, that say whose turn a row is");
    out.line("dk_u64 part = 0;");
    out.open("while (part >> part_bits == 0) {{");
    out.line("dk_bool anew = 0;");
    out.line("dk_u64 step = first;  // of the warp: none waits for others before the table is full");
    out.line("dk_u32 todo = 0;");
    out.line("dk_u32 loaded[{}][{}];", rows_at_once, row_words);
    out.open("for (dk_bool again = 1; again;) {{");
    out.open("for (dk_bool on = 1; on;) {{");
    out.open("if (!DK_ANY_LANE(todo != 0)) {{");
    out.line("if (step >= end) break;");
    out.open("DK_UNROLL for (dk_i32 k = 0; k < {}; k++) {{", rows_at_once);
    out.line("const dk_u64 number = step + k * DK_GROUP_SIZE + DK_LOCAL_ID;");
    out.open("if (number < end) {{");
    out.line("dk_load_row(rows + number * {0}, loaded[k], {0});", row_words);
    out.line("todo |= 1U << k;");
    out.close();
    out.close();
    out.line("step += DK_GROUP_SIZE * {};", rows_at_once);
    out.close();
    out.open("DK_UNROLL for (dk_i32 k = 0; k < {}; k++) if ((todo >> k & 1U) != 0) {{", rows_at_once);
    out.line("dk_u32 row[{}];", row_words);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {}; i++) row[i] = loaded[k][i];", row_words);
    write_keys(out);
    out.line("const dk_u64 hash = dk_hash_words(key, {});", plan_.compared_words);
    out.line("const dk_bool is_due = part_bits == 0 || hash << partition_bits >> (64 - part_bits) == part;");
    out.line("if (!is_due) todo &= ~(1U << k);");
    out.open("if (is_due) {{");
    out.line("const dk_u32 first_slot = (dk_u32)(((hash >> 8 & 0xFFFFFFU) * (dk_u64)slot_count) >> 24);");
    out.line("const dk_u32 stride = 1 + ((dk_u32)(hash & 0xFFU) * ((dk_u32)slot_count - 1) >> 8);");
    out.line(
        "const dk_i64 slot = dk_group_find_or_add_local(DK_SPACES_ARG, used, slots, keys, (dk_u32)slot_count, limit, "
        "{}, {}, {}, key, first_slot, stride, (dk_u32)(hash >> 20));",
        plan_.key_words, plan_.compared_words, plan_.strings);
    out.open("if (slot >= 0) {{");
    out.line("todo &= ~(1U << k);");
    write_updates(out);
    out.close();
    out.close();
    out.close();
    out.line("if (todo != 0) dk_atomic_cas_local_u32(used + 2, 0, (dk_u32)(step - first));");
    out.line("on = !DK_ANY_LANE(dk_atomic_load_local_u32(used + 2) != 0);");
    out.close();
    out.line("DK_BARRIER();");
    out.line("dk_u64 seen = used[2];");
    out.line("again = seen != 0;");
    out.open("if (again) {{");
    out.line("DK_BARRIER();");
    out.line("if (DK_LOCAL_ID == 0) used[2] = 0;");
    write_parting(out);
    out.open("if (!anew) {{");
    out.line("whole = 0;");
    write_flush(out);
    out.close();
    out.line("again = !anew;");
    out.close();
    out.close();
    out.open("if (anew) {{");
    out.line("for (dk_i32 i = DK_LOCAL_ID; i < slot_count; i += DK_GROUP_SIZE) slots[i] = 0;");
    out.line("for (dk_i32 i = DK_LOCAL_ID; i < slot_count * {}; i += DK_GROUP_SIZE) states[i] = 0;", plan_.state_words);
    out.line("if (DK_LOCAL_ID == 0) used[0] = 0;");
    out.line("DK_BARRIER();");
    out.close();
    out.open("if (!anew) {{");
    write_flush(out);
    out.line("part++;");
    out.close();
    out.close();
    out.close();
    write_failure(out);
    return text_of("group_slices", out.take());
  }

  std::string write_merge() const {
    KernelWriter out(1);
    declare_control(out);
    out.line("DK_GLOBAL const dk_u64* from = {};", address("const dk_u64", GroupWord::States));
    out.line("const dk_i64 count = (dk_i64){};", word(GroupWord::StateRows));
    out.line("DK_GLOBAL dk_u32* slots = {};", address("dk_u32", GroupWord::Slots));
    out.line("const dk_i32 slot_bits = (dk_i32){};", word(GroupWord::SlotBits));
    out.line("const dk_i32 slot_shift = (dk_i32){};", word(GroupWord::SlotShift));
    out.line("const dk_u64 pass = {};", word(GroupWord::Pass));
    out.line("const dk_i32 pass_bits = (dk_i32){};", word(GroupWord::PassBits));
    out.line("const dk_u64 slot_count = DK_U64(1) << slot_bits;");
    out.line("const dk_u32 limit = pass_bits == 0 ? 0xFFFFFFFFU : (dk_u32)(slot_count - slot_count / 8);");
    out.line("DK_GLOBAL dk_u64* keys = {};", address("dk_u64", GroupWord::Keys));
    out.line("DK_GLOBAL dk_u64* states = {};", address("dk_u64", GroupWord::TableStates));
    out.open(
        "for (dk_i64 i = (dk_i64)DK_GROUP_ID * DK_GROUP_SIZE + DK_LOCAL_ID; i < count; i += (dk_i64)DK_GROUP_COUNT * "
        "DK_GROUP_SIZE) {{");
    out.line("dk_u64 key[{}];", plan_.key_words);
    out.line("dk_u64 s[{}];", plan_.states.words);
    out.line("DK_UNROLL for (dk_i32 w = 0; w < {}; w++) key[w] = from[i * {} + w];", plan_.key_words,
             kernels_.state_row);
    out.line("DK_UNROLL for (dk_i32 w = 0; w < {}; w++) s[w] = from[i * {} + {} + w];", plan_.states.words,
             kernels_.state_row, plan_.key_words);
    out.line("const dk_u64 hash = dk_hash_words(key, {});", plan_.compared_words);
    out.open("if (pass_bits == 0 || hash >> (64 - pass_bits) == pass) {{");
    out.line(
        "const dk_i64 slot = dk_group_find_or_add_global(DK_SPACES_ARG, (DK_GLOBAL dk_u32*)(control + 4), slots, keys, "
        "slot_count, limit, {}, {}, {}, key, hash << slot_shift >> (64 - slot_bits), 1, (dk_u32)hash);",
        plan_.key_words, plan_.compared_words, plan_.strings);
    out.line("if (slot < 0) dk_atomic_store_global_u64(control + 5, 1);");
    out.open("if (slot >= 0) {{");
    out.line("DK_GLOBAL dk_u64* at = states + slot * {};", plan_.state_words);
    StateText(plan_, table_, "global").merge(out, "s");
    out.close();
    out.close();
    out.close();
    write_failure(out);
    return text_of("merge_groups", out.take());
  }

  std::string write_show() const {
    KernelWriter out(1);
    declare_control(out);
    out.line("DK_GLOBAL const dk_u32* slots = {};", address("const dk_u32", GroupWord::Slots));
    out.line("const dk_u64 count = DK_U64(1) << (dk_i32){};", word(GroupWord::SlotBits));
    out.line("DK_GLOBAL const dk_u64* keys = {};", address("const dk_u64", GroupWord::Keys));
    const bool has_states = !plan_.states.aggregates.empty();
    if (has_states) out.line("DK_GLOBAL const dk_u64* states = {};", address("const dk_u64", GroupWord::TableStates));
    out.line("const dk_u64 capacity = {};", word(GroupWord::Capacity));
    out.open(
        "for (dk_u64 first = (dk_u64)DK_GROUP_ID * DK_GROUP_SIZE; first < count; first += (dk_u64)DK_GROUP_COUNT * "
        "DK_GROUP_SIZE) {{");
    out.line("const dk_u64 slot = first + DK_LOCAL_ID;");
    out.line("const dk_bool has = slot < count && slots[slot] != 0;");
    out.line("dk_u32 all;");
    out.line("const dk_u32 before = dk_block_scan_u32(has, scratch, &all);");
    out.line("dk_u64 place = 0;");
    out.line("if (DK_LOCAL_ID == 0 && all != 0) place = dk_atomic_add_global_u64(control + 1, all);");
    out.line("place = dk_block_broadcast_u64(place, scratch) + before;");
    out.open("if (has && place < capacity) {{");
    out.line("dk_u64 key[{}];", plan_.key_words);
    out.line("DK_UNROLL for (dk_i32 i = 0; i < {0}; i++) key[i] = keys[slot * {0} + i];", plan_.key_words);
    if (has_states) {
      out.line("dk_u64 s[{}];", plan_.states.words);
      out.line("DK_UNROLL for (dk_i32 i = 0; i < {}; i++) s[i] = states[slot * {} + i];", plan_.states.words,
               plan_.state_words);
    }
    write_result(out);
    out.close();
    out.close();
    write_failure(out);
    return text_of("show_groups", out.take());
  }

  const GroupPlan& plan_;
  const HashTableInfo& table_;
  GroupKernels kernels_;
};

}  // namespace

std::shared_ptr<const GroupKernels> make_group_kernels(const GroupPlan& plan, const HashTableInfo& table,
                                                       int group_items) {
  return std::make_shared<const GroupKernels>(GroupKernelText(plan, table, group_items).make());
}

bool is_nullable_result(const GroupPlan& plan, size_t column) {
  if (column < plan.keys.size()) return plan.keys[column].nullable;
  const size_t aggregate = column - plan.keys.size();
  const StateKind kind = plan.states.aggregates[aggregate].kind;
  // Deviations of one value are NULL, too.
  return kind == StateKind::Exact || (kind != StateKind::Count && !plan.always_comes(aggregate));
}

int result_width(const GroupPlan& plan, const HashTableInfo& table, size_t column) {
  if (column >= plan.keys.size()) return width_bytes(table.aggregates[column - plan.keys.size()].result.physical);
  return plan.keys[column].dictionary_column >= 0 ? 4 : width_bytes(plan.keys[column].physical);
}

bool is_string_result(const GroupPlan& plan, const HashTableInfo& table, size_t column) {
  if (column < plan.keys.size()) return plan.keys[column].is_string();
  return table.aggregates[column - plan.keys.size()].result.physical == PhysicalType::Text;
}

}  // namespace diptych::gpu
