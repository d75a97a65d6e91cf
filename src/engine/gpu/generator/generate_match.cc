// Rows that meet those of an index. Where the index has unique keys, Matches leaves the rows active that have found
// one; else see generate_pairs.cc.
//
//   met_7      rows that have found their key
//   r7[k]      the place of row k's key in a dense index, or the row that it has found, of which Fetch reads columns
#include "engine/gpu/generator/section_generator.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

namespace {

int32_t part(IndexPart which) { return static_cast<int32_t>(which); }

}  // namespace

const IndexShape* SectionGenerator::declare_index(int32_t index) {
  const IndexShape* shape = shape_.built(index);
  if (shape == nullptr) {
    refuse(meets_an_index);
    return nullptr;
  }
  use_file("device/index_find.h");
  const std::string name = fmt::format("index_{}", index);
  const auto declare_words = [&](const char* type, const char* ending, IndexPart which) {
    declare(name + ending, fmt::format("DK_GLOBAL const {0}* {1}{2} = DK_AT(const {0}, {3});", type, name, ending,
                                       word(Kind::Index, index, part(which))));
  };
  const auto declare_number = [&](const char* type, const char* ending, IndexPart which) {
    declare(name + ending,
            fmt::format("const {0} {1}{2} = ({0}){3};", type, name, ending, word(Kind::Index, index, part(which))));
  };
  declare_number("dk_u32", "_span", IndexPart::Span);
  if (!shape->has_keys) return shape;
  if (shape->is_dense) {
    declare_words("dk_u32", "_bits", IndexPart::Bits);
    declare_number("dk_i64", "_low", IndexPart::Low);
    if (shape->is_unique && shape->is_fetched) declare_words("dk_u32", "", IndexPart::Slots);
  } else {
    declare_words("dk_u32", "", IndexPart::Slots);
    declare_words("dk_u64", "_keys", IndexPart::Keys);
    if (shape->has_filter) {
      declare_words("dk_u32", "_filter", IndexPart::Filter);
      declare_number("dk_i32", "_filter_bits", IndexPart::FilterBits);
    }
  }
  if (shape->is_unique) return shape;
  declare_words("dk_u32", "_starts", IndexPart::Starts);
  if (shape->is_fetched) declare_words("dk_u32", "_rows", IndexPart::Rows);
  return shape;
}

void SectionGenerator::write_matches(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const IndexShape* shape = declare_index(instruction.p3);
  if (shape == nullptr) return;
  const int32_t keys = program_.indexes[static_cast<size_t>(instruction.p3)].keys;
  std::string live = sinking();
  for (int32_t i = 0; i < keys; ++i) live = both(live, known(instruction.p2 + i));
  // No jump from before leads behind it.
  body_.close_to(depth_);
  body_.line("dk_u32 met_{} = 0;", out);
  body_.open("{{");
  body_.line("const dk_u32 live = {};", live);
  if (!shape->has_keys)
    body_.line("met_{} = index_{}_span != 0 ? live : 0U;", out, instruction.p3);
  else if (shape->is_dense)
    write_found_places(address);
  else
    write_found_slots(address, *shape);
  body_.close();
  if (!shape->is_unique) return open_pairs(address);
  if (address == compacts_at_) return open_compacted(address);
  body_.line("active = met_{};", out);
  body_.open("if (active != 0) {{");
}

// Of each row the place of its key. The rows' bits are asked for at once.
void SectionGenerator::write_found_places(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const std::string name = fmt::format("index_{}", instruction.p3), key = operand(instruction.p2);
  const IndexInfo& index = program_.indexes[static_cast<size_t>(instruction.p3)];
  const RegisterInfo& column = program_.row_sets[static_cast<size_t>(index.row_set)].columns[0];
  const bool is_short = info(instruction.p2).physical == PhysicalType::Int32 && column.physical == PhysicalType::Int32;
  body_.open("DK_FOR_ROWS(k) {{");
  const char* word = is_short ? "dk_u32" : "dk_u64";
  body_.line("const {0} place = ({0})({1}) - ({0}){2}_low;", word, key, name);
  body_.line("const dk_u32 bits = (live >> k & 1U) != 0 && place < {0}_span ? {0}_bits[place >> 5] : 0U;", name);
  body_.line("met_{} |= (bits >> (dk_u32)(place & 31) & 1U) << k;", out);
  body_.line("r{}[k] = (dk_u32)place;", out);
  body_.close();
}

// Of each row the slot of its key.
void SectionGenerator::write_found_slots(int32_t address, const IndexShape& shape) {
  const int32_t out = at(address).p1;
  const std::string name = fmt::format("index_{}", at(address).p3);
  if (shape.has_filter) {
    body_.line("dk_u32 possible = 0;");
    body_.open("DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) {{");
    write_key_hash(address);
    body_.line("possible |= (dk_u32)dk_index_may_have({0}_filter, {0}_filter_bits, hash) << k;", name);
    body_.close();
  }
  body_.open("DK_FOR_ROWS(k) if (({} >> k & 1U) != 0) {{", shape.has_filter ? "possible" : "live");
  const KeyWords words = write_key_hash(address);
  body_.line("const dk_i64 slot = dk_index_find(DK_SPACES_ARG, {0}, (dk_i32){0}_span, {0}_keys, {1}, {2}, key, hash);",
             name, words.compared, words.texts);
  body_.open("if (slot >= 0) {{");
  body_.line("met_{} |= 1U << k;", out);
  if (shape.is_unique)
    body_.line("r{}[k] = {}[slot] - 1;", out, name);
  else
    body_.line("r{}[k] = (dk_u32)slot;", out);
  body_.close();
  body_.close();
}

// The words of row k's key, as kernel/device/index_find.h has them, and their hash.
SectionGenerator::KeyWords SectionGenerator::write_key_hash(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t keys = program_.indexes[static_cast<size_t>(instruction.p3)].keys;
  std::vector<std::string> words, texts;
  for (int32_t i = 0; i < keys; ++i) {
    const int32_t number = instruction.p2 + i;
    const PhysicalType physical = info(number).physical;
    const std::string value = operand(number);
    if (physical == PhysicalType::Text) {
      texts.push_back(value);
    } else if (physical == PhysicalType::Int128) {
      words.push_back(fmt::format("{}.lo", value));
      words.push_back(fmt::format("(dk_u64){}.hi", value));
    } else if (physical == PhysicalType::Float32 || physical == PhysicalType::Float64) {
      words.push_back(fmt::format("dk_key_word_f64({})", widened(value, physical, PhysicalType::Float64)));
    } else {
      words.push_back(fmt::format("(dk_u64)(dk_i64){}", value));
    }
  }
  for (const std::string& text : texts) words.push_back(fmt::format("dk_text_key({})", text));
  const KeyWords made{words.size(), texts.size()};
  for (const std::string& text : texts) words.push_back(fmt::format("dk_text_address(DK_SPACES_ARG, {})", text));
  body_.line("dk_u64 key[{}];", words.size());
  for (size_t i = 0; i < words.size(); ++i) body_.line("key[{}] = {};", i, words[i]);
  body_.line("const dk_u64 hash = dk_hash_words(key, {});", made.compared);
  return made;
}

void SectionGenerator::write_fetch(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1, index = instruction.p3;
  const auto column = static_cast<int32_t>(std::get<int64_t>(instruction.p4));
  const IndexShape* shape = declare_index(index);
  if (shape == nullptr) return;
  const PhysicalType physical = info(out).physical;
  const std::string name = fmt::format("index_{}_{}", index, column);
  const char* element = physical == PhysicalType::Bool       ? "dk_u8"
                        : physical == PhysicalType::Interval ? "dk_i128"
                        : physical == PhysicalType::Text     ? "dk_u32"
                                                             : type_text(physical);
  const int32_t values = part(IndexPart::FirstColumn) + 3 * column;
  declare(name, fmt::format("DK_GLOBAL const {0}* {1} = DK_AT(const {0}, {2});", element, name,
                            word(Kind::Index, index, values)));
  const bool has_nulls = shape->has_nulls[static_cast<size_t>(column)];
  if (has_nulls)
    declare(name + "_known", fmt::format("DK_GLOBAL const dk_u8* {}_known = DK_AT(const dk_u8, {});", name,
                                         word(Kind::Index, index, values + 1)));
  std::string row = operand(instruction.p2);
  if (shape->is_dense && shape->is_unique) row = fmt::format("index_{}[{}]", index, row);
  const std::string each = "DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) ";
  body_.open("{{");
  std::string there = all_rows;
  if (has_nulls) {
    there = "there";
    body_.line("dk_u32 there = 0;");
    body_.line("{}there |= (dk_u32)dk_row_is_known({}_known, {}) << k;", each, name, row);
  }
  if (physical == PhysicalType::Bool) {
    body_.line("dk_u32 holds = 0;");
    body_.line("{}holds |= (dk_u32)({}[{}] != 0) << k;", each, name, row);
    assign_truth(out, "holds", there);
  } else if (physical == PhysicalType::Interval) {
    body_.line("{0}r{1}[k] = dk_interval_of_words({2}[{3}].lo, (dk_u64){2}[{3}].hi);", each, out, name, row);
    store_nulls_here(out, there);
  } else if (physical == PhysicalType::Text) {
    use_file("device/strings.h");
    declare(name + "_bytes", fmt::format("DK_GLOBAL const char* {}_bytes = DK_AT(const char, {});", name,
                                         word(Kind::Index, index, values + 2)));
    body_.open("{}{{", each);
    body_.line("const dk_u32 at = {};", row);
    body_.line("r{0}[k] = dk_make_text({1}_bytes + {1}[at], (dk_i32)({1}[at + 1] - {1}[at]));", out, name);
    body_.close();
    store_nulls_here(out, there);
  } else {
    body_.line("{}r{}[k] = {}[{}];", each, out, name, row);
    store_nulls_here(out, there);
  }
  body_.close();
}

}  // namespace diptych::gpu
