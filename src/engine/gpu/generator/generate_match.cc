// Rows that meet those of an index. Where the index has unique keys, Matches leaves the rows active that have found
// one; else see generate_pairs.cc.
//
//   met_7      rows that have found their key
//   r7[k]      the place of row k's key in a dense index, or the number of the row or record that it has found
//
// Fetch reads columns of what r7 names (generate_fetch.cc).
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
  if (shape->is_guessed) declare_words("dk_u32", "_control", IndexPart::Control);
  if (!shape->has_keys) return shape;
  if (shape->is_dense) {
    declare_number("dk_i64", "_low", IndexPart::Low);
    if (shape->is_unique && !shape->is_full) declare_words("dk_u32", "_bits", IndexPart::Bits);
    if (shape->is_unique && shape->is_fetched && !shape->is_direct) declare_words("dk_u32", "", IndexPart::Slots);
  } else {
    declare_words("dk_u32", "", IndexPart::Slots);
    declare_words("dk_u8", "_keys", IndexPart::Keys);
    declare_number("dk_i32", "_row_bits", IndexPart::RowBits);
    if (shape->has_filter) {
      declare_words("dk_u32", "_filter", IndexPart::Filter);
      declare_number("dk_i32", "_filter_bits", IndexPart::FilterBits);
    }
  }
  if (shape->record_bytes > 0) declare_words("dk_u8", "_records", IndexPart::Records);
  if (shape->is_unique) return shape;
  declare_words("dk_u32", "_starts", IndexPart::Starts);
  if (shape->is_fetched && shape->record_bytes == 0) declare_words("dk_u32", "_rows", IndexPart::Rows);
  return shape;
}

// Keys that were taken to be unique are not: what the kernel finds then is of no use.
void SectionGenerator::write_guesses() {
  for (int32_t address = flow_.first; address < flow_.end; ++address) {
    if (at(address).opcode != Opcode::Matches) continue;
    const IndexShape* shape = declare_index(at(address).p3);
    if (shape == nullptr || !shape->is_guessed) continue;
    body_.line("DK_NOTE_FAILURE(failure, index_{}_control[DK_INDEX_IS_REPEATED] != 0 ? DK_KEYS_REPEAT : 0, 1, {});",
               at(address).p3, address);
  }
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
  key_parts_ = declare_key_parts(instruction, *shape);
  body_.open("{{");
  body_.line("const dk_u32 live = {};", live);
  if (!shape->has_keys)
    body_.line("met_{} = index_{}_span != 0 ? live : 0U;", out, instruction.p3);
  else if (shape->is_dense)
    write_found_places(address, *shape);
  else
    write_found_slots(address, *shape);
  body_.close();
  if (!shape->is_unique) return open_pairs(address);
  if (address == compacts_at_) return open_compacted(address);
  // A record begins with its key.
  if (shape->record_bytes > 0) loaded_parts_ = std::move(key_parts_);
  body_.line("active = met_{};", out);
  body_.open("if (active != 0) {{");
}

// Of each row the place of its key. The rows' bits are asked for at once. A place that several rows may share has a
// start whether it has rows or not.
void SectionGenerator::write_found_places(int32_t address, const IndexShape& shape) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1;
  const std::string name = fmt::format("index_{}", instruction.p3), key = operand(instruction.p2);
  const IndexInfo& index = program_.indexes[static_cast<size_t>(instruction.p3)];
  const RegisterInfo& column = program_.row_sets[static_cast<size_t>(index.row_set)].columns[0];
  const bool is_short = info(instruction.p2).physical == PhysicalType::Int32 && column.physical == PhysicalType::Int32;
  body_.open("DK_FOR_ROWS(k) {{");
  const char* word = is_short ? "dk_u32" : "dk_u64";
  body_.line("const {0} place = ({0})({1}) - ({0}){2}_low;", word, key, name);
  body_.line("const dk_bool is_place = (live >> k & 1U) != 0 && place < {}_span;", name);
  if (shape.is_unique && !shape.is_full) {
    body_.line("const dk_u32 bits = is_place ? {}_bits[place >> 5] : 0U;", name);
    body_.line("met_{} |= (bits >> (dk_u32)(place & 31) & 1U) << k;", out);
  } else {
    body_.line("met_{} |= (dk_u32)is_place << k;", out);
  }
  body_.line("r{}[k] = (dk_u32)place;", out);
  body_.close();
}

// Of each row the row that has its key, or where several have it its slot. What the first slots have is asked for at
// once for all rows.
void SectionGenerator::write_found_slots(int32_t address, const IndexShape& shape) {
  const std::string name = fmt::format("index_{}", at(address).p3);
  body_.line("dk_u64 hashes[DK_ROWS];");
  body_.line("dk_u32 entries[DK_ROWS];");
  body_.open("DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) {{");
  write_key_hash(address);
  body_.line("hashes[k] = hash;");
  body_.close();
  if (shape.has_filter) {
    body_.line("dk_u32 possible = 0;");
    body_.line(
        "DK_FOR_ROWS(k) if ((live >> k & 1U) != 0) possible |= (dk_u32)dk_index_may_have({0}_filter, "
        "{0}_filter_bits, hashes[k]) << k;",
        name);
  }
  body_.line("DK_FOR_ROWS(k) entries[k] = ({1} >> k & 1U) != 0 ? {0}[hashes[k] >> (64 - {0}_span)] : 0U;", name,
             shape.has_filter ? "possible" : "live");
  body_.open("DK_FOR_ROWS(k) if (entries[k] != 0) {{");
  write_slot_search(address, shape);
  body_.close();
}

// Goes on from row k's first slot to the one that has its key, or to a free one. Keys are compared behind the loop that
// finds one to compare: there, items that had to look further meet again.
void SectionGenerator::write_slot_search(int32_t address, const IndexShape& shape) {
  const int32_t out = at(address).p1;
  const std::string name = fmt::format("index_{}", at(address).p3);
  body_.line("const dk_u32 wanted = dk_index_entry(hashes[k], 0, {}_row_bits);", name);
  body_.line("dk_u64 slot = hashes[k] >> (64 - {}_span);", name);
  body_.line("dk_u32 entry = entries[k];");
  body_.open("while (1) {{");
  body_.open("while (entry != 0 && !dk_index_may_be(entry, wanted, {}_row_bits)) {{", name);
  write_next_slot(name);
  body_.close();
  body_.line("if (entry == 0) break;");
  body_.line("const dk_u32 number = dk_index_row(entry, {}_row_bits);", name);
  for (const LoadedPart& part : key_parts_)
    body_.line("{}", load_of(fmt::format("{}_keys", name), "number", shape.key_bytes, shape.key_load_bytes, part));
  body_.open("if ({}) {{", same_key(address, shape));
  body_.line("met_{} |= 1U << k;", out);
  body_.line("r{}[k] = {};", out, shape.is_unique ? "number" : "(dk_u32)slot");
  body_.line("break;");
  body_.close();
  write_next_slot(name);
  body_.close();
}

void SectionGenerator::write_next_slot(const std::string& name) {
  body_.line("slot = (slot + 1) & ((DK_U64(1) << {}_span) - 1);", name);
  body_.line("entry = {}[slot];", name);
}

// The `hash` of row k's key: of its words, those of strings last, as the index's rows are hashed
// (device/index_build.h).
void SectionGenerator::write_key_hash(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t keys = program_.indexes[static_cast<size_t>(instruction.p3)].keys;
  std::vector<std::string> words, texts;
  for (int32_t i = 0; i < keys; ++i) {
    const int32_t number = instruction.p2 + i;
    const std::string value = operand(number);
    switch (info(number).physical) {
      case PhysicalType::Text: texts.push_back(fmt::format("dk_text_key({})", value)); break;
      case PhysicalType::Int128:
        words.push_back(fmt::format("{}.lo", value));
        words.push_back(fmt::format("(dk_u64){}.hi", value));
        break;
      default: words.push_back(key_word(number)); break;
    }
  }
  words.insert(words.end(), texts.begin(), texts.end());
  body_.line("dk_u64 key[{}];", words.size());
  for (size_t i = 0; i < words.size(); ++i) body_.line("key[{}] = {};", i, words[i]);
  body_.line("const dk_u64 hash = dk_hash_words(key, {});", words.size());
}

// Of a register of 64 bits or less, but strings.
std::string SectionGenerator::key_word(int32_t number) {
  const PhysicalType physical = info(number).physical;
  if (physical == PhysicalType::Float32 || physical == PhysicalType::Float64)
    return fmt::format("dk_key_word_f64({})", widened(operand(number), physical, PhysicalType::Float64));
  return fmt::format("(dk_u64)(dk_i64){}", operand(number));
}

// Whether the key that was loaded is row k's.
std::string SectionGenerator::same_key(int32_t address, const IndexShape& shape) {
  const Instruction& instruction = at(address);
  const IndexInfo& index = program_.indexes[static_cast<size_t>(instruction.p3)];
  const auto& columns = program_.row_sets[static_cast<size_t>(index.row_set)].columns;
  const auto bits = [&](int where, int width) { return part_bits(key_parts_, shape.key_load_bytes, where, width); };
  std::string same, same_texts;
  for (size_t i = 0; i < shape.key_fields.size(); ++i) {
    const IndexShape::Field& field = shape.key_fields[i];
    const int32_t number = instruction.p2 + static_cast<int32_t>(i);
    const std::string value = operand(number);
    std::string& all = columns[i].physical == PhysicalType::Text ? same_texts : same;
    all += all.empty() ? "" : " && ";
    switch (columns[i].physical) {
      case PhysicalType::Text:
        all += fmt::format(
            "{1} == (dk_u32){0}.length && dk_same_bytes(DK_SPACES_ARG, {3} + {2}, "
            "dk_text_address(DK_SPACES_ARG, {0}), {0}.length)",
            value, bits(field.at + 4, 4), bits(field.at, 4),
            word(Kind::Index, instruction.p3,
                 part(IndexPart::FirstColumn) + index_column_parts * static_cast<int32_t>(i) + 2));
        break;
      case PhysicalType::Int128:
        all += fmt::format("{1} == {0}.lo && {2} == (dk_u64){0}.hi", value, bits(field.at, 8), bits(field.at + 8, 8));
        break;
      case PhysicalType::Int32:
      case PhysicalType::Bool:
        all += fmt::format("(dk_u64)(dk_i64)(dk_i32){} == {}", bits(field.at, 4), key_word(number));
        break;
      default: all += fmt::format("{} == {}", bits(field.at, 8), key_word(number)); break;
    }
  }
  return same.empty() || same_texts.empty() ? same + same_texts : same + " && " + same_texts;
}

}  // namespace diptych::gpu
