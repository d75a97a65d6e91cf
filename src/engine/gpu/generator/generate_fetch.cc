// Columns of rows of built indexes. What is fetched of a row stands in one record (join/index_record.h), which is
// loaded part by part, each once for all that is read of it between two places where rows may come together again:
//
//   part_3[k]    words of 4 bytes of a part of row k's record
#include <algorithm>
#include <utility>

#include "engine/gpu/generator/section_generator.h"
#include "engine/rows/packed_layout.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

namespace {

constexpr int word_bytes = 4;

int words_of_load(int load_bytes) { return std::max(1, load_bytes / word_bytes); }

// Adds those parts that a field is in.
void add_parts(const IndexShape::Field& field, int load_bytes, std::vector<int>& parts) {
  for (int part = field.at / load_bytes; part <= (field.at + field.width - 1) / load_bytes; ++part)
    if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(part);
}

// ... and what says whether it is there.
std::vector<int> parts_of_field(const IndexShape& shape, const IndexShape::Field& field, bool has_nulls) {
  std::vector<int> parts;
  add_parts(field, shape.record_load_bytes, parts);
  if (has_nulls) add_parts({.width = 1, .at = field.null_bit / 8}, shape.record_load_bytes, parts);
  return parts;
}

}  // namespace

const IndexShape::Field* SectionGenerator::field_of(const Instruction& fetch) const {
  const IndexShape* shape = shape_.built(fetch.p3);
  if (shape == nullptr || shape->record_bytes == 0) return nullptr;
  const IndexShape::Field& field = shape->fields[static_cast<size_t>(std::get<int64_t>(fetch.p4))];
  return field.width > 0 ? &field : nullptr;
}

// Declares what a Fetch loads, where those behind it see it, too.
void SectionGenerator::declare_parts(int32_t address, bool late) {
  const Instruction& fetch = at(address);
  const IndexShape::Field* field = field_of(fetch);
  if (field == nullptr) return;
  const IndexShape& shape = *shape_.built(fetch.p3);
  const bool has_nulls = shape.has_nulls[static_cast<size_t>(std::get<int64_t>(fetch.p4))];
  for (const int part : parts_of_field(shape, *field, has_nulls)) {
    if (find_part(fetch, part, late) != nullptr) continue;
    loaded_parts_.push_back({fetch.p3, fetch.p2, part, late, fmt::format("part_{}", parts_++)});
    body_.line("dk_u32 {}[DK_ROWS][{}];", loaded_parts_.back().name, words_of_load(shape.record_load_bytes));
  }
}

// Of a table, where its rows' keys are looked at.
std::vector<SectionGenerator::LoadedPart> SectionGenerator::declare_key_parts(const Instruction& matches,
                                                                              const IndexShape& shape) {
  std::vector<int> parts;
  for (const IndexShape::Field& field : shape.key_fields) add_parts(field, shape.key_load_bytes, parts);
  std::vector<LoadedPart> declared;
  for (const int part : parts) {
    declared.push_back({matches.p3, matches.p1, part, false, fmt::format("part_{}", parts_++), true});
    body_.line("dk_u32 {}[DK_ROWS][{}];", declared.back().name, words_of_load(shape.key_load_bytes));
  }
  return declared;
}

SectionGenerator::LoadedPart* SectionGenerator::find_part(const Instruction& fetch, int part, bool late) {
  for (LoadedPart& one : loaded_parts_)
    if (one.index == fetch.p3 && one.row == fetch.p2 && one.part == part && (one.late == late || !one.late))
      return &one;
  return nullptr;
}

// Of row k, where the index has no record at its place the number of its row.
std::string SectionGenerator::found_row(const Instruction& fetch) {
  const IndexShape& shape = *shape_.built(fetch.p3);
  const std::string row = operand(fetch.p2);
  return shape.is_dense && shape.is_unique && !shape.is_direct ? fmt::format("index_{}[{}]", fetch.p3, row) : row;
}

// A statement that loads a part of row k of those that lie so many bytes apart.
std::string SectionGenerator::load_of(const std::string& rows, const std::string& row, int stride, int load_bytes,
                                      const LoadedPart& part) {
  const std::string from = fmt::format("{} + (dk_u64)({}) * {} + {}", rows, row, stride, part.part * load_bytes);
  if (load_bytes < word_bytes)
    return fmt::format("{}[k][0] = *(DK_GLOBAL const {}*)({});", part.name, load_bytes == 1 ? "dk_u8" : "dk_u16", from);
  return fmt::format("DK_LOAD_X{}({}, {}[k])", words_of_load(load_bytes), from, part.name);
}

void SectionGenerator::load_part(const Instruction& fetch, LoadedPart& part) {
  if (std::exchange(part.is_loaded, true)) return;
  const IndexShape& shape = *shape_.built(fetch.p3);
  body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) {}",
             load_of(fmt::format("index_{}_records", fetch.p3), found_row(fetch), shape.record_bytes,
                     shape.record_load_bytes, part));
}

// Of row k a word that has bytes from `where` on at its lower end.
std::string SectionGenerator::part_word(const std::vector<LoadedPart>& parts, int load_bytes, int where) {
  const auto part = std::ranges::find(parts, where / load_bytes, &LoadedPart::part);
  const std::string word = fmt::format("{}[k][{}]", part->name, where % load_bytes / word_bytes);
  return where % word_bytes == 0 ? word : fmt::format("({} >> {})", word, where % word_bytes * 8);
}

std::string SectionGenerator::part_bits(const std::vector<LoadedPart>& parts, int load_bytes, int where, int width) {
  const std::string word = part_word(parts, load_bytes, where);
  switch (width) {
    case 1: return fmt::format("({} & 0xFFU)", word);
    case 2: return fmt::format("({} & 0xFFFFU)", word);
    case 4: return word;
    default:
      return fmt::format("((dk_u64){} | (dk_u64){} << 32)", word, part_word(parts, load_bytes, where + word_bytes));
  }
}

void SectionGenerator::write_fetch(int32_t address) {
  const Instruction& fetch = at(address);
  if (declare_index(fetch.p3) == nullptr) return;
  if (const IndexShape::Field* field = field_of(fetch))
    write_fetch_field(address, *field);
  else
    write_fetch_column(address);
}

void SectionGenerator::write_fetch_field(int32_t address, const IndexShape::Field& field) {
  const Instruction& fetch = at(address);
  const int32_t out = fetch.p1;
  const auto column = static_cast<size_t>(std::get<int64_t>(fetch.p4));
  const IndexShape& shape = *shape_.built(fetch.p3);
  const bool late = is_put_off(address);
  std::vector<LoadedPart> parts;
  for (const int number : parts_of_field(shape, field, shape.has_nulls[column])) {
    LoadedPart& part = *find_part(fetch, number, late);
    load_part(fetch, part);
    parts.push_back(part);
  }
  const PhysicalType physical = info(out).physical;
  const std::string low = fmt::format("index_{}_{}_low", fetch.p3, column);
  if (is_whole_number(physical))
    declare(low, fmt::format("const dk_i64 {} = (dk_i64){};", low,
                             word(Kind::Index, fetch.p3,
                                  static_cast<int32_t>(IndexPart::FirstColumn) +
                                      index_column_parts * static_cast<int32_t>(column) + 3)));
  body_.open("{{");
  std::string there = all_rows;
  if (shape.has_nulls[column]) {
    there = "there";
    body_.line("dk_u32 there = 0;");
    body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) there |= ({} >> {} & 1U) << k;",
               part_word(parts, shape.record_load_bytes, field.null_bit / 8), field.null_bit % 8);
  }
  const int width = std::min(field.width, 8);
  const auto bits_at = [&](int where) { return part_bits(parts, shape.record_load_bytes, where, width); };
  const std::string bits = bits_at(field.at), upper = field.width > width ? bits_at(field.at + width) : "";
  if (physical == PhysicalType::Bool) {
    body_.line("dk_u32 holds = 0;");
    body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) holds |= (dk_u32)({} != 0) << k;", bits);
    assign_truth(out, "holds", there);
  } else {
    body_.line("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) r{}[k] = {};", out,
               field_value(physical, bits, upper, low));
    store_nulls_here(out, there);
  }
  body_.close();
}

// The value of a field out of its bits; upper: of one of 16 bytes.
std::string SectionGenerator::field_value(PhysicalType physical, const std::string& bits, const std::string& upper,
                                          const std::string& low) {
  switch (physical) {
    case PhysicalType::Int32: return fmt::format("(dk_i32)((dk_u32){} + (dk_u32){})", low, bits);
    case PhysicalType::Int64: return fmt::format("(dk_i64)((dk_u64){} + (dk_u64){})", low, bits);
    case PhysicalType::Int128:
      if (upper.empty())
        return widened(fmt::format("(dk_i64)((dk_u64){} + (dk_u64){})", low, bits), PhysicalType::Int64, physical);
      return fmt::format("dk_make_i128((dk_i64){}, {})", upper, bits);
    case PhysicalType::Float32: return fmt::format("DK_F32_OF_BITS({})", bits);
    case PhysicalType::Float64: return fmt::format("DK_F64_OF_BITS({})", bits);
    case PhysicalType::Interval: return fmt::format("dk_interval_of_words({}, {})", bits, upper);
    default: return fmt::format("dk_make_text(DK_AT(const char, {}), (dk_i32){})", bits, upper);
  }
}

// Of a record that is too wide, or of an index without keys: where the row set has it.
void SectionGenerator::write_fetch_column(int32_t address) {
  const Instruction& instruction = at(address);
  const int32_t out = instruction.p1, index = instruction.p3;
  const auto column = static_cast<int32_t>(std::get<int64_t>(instruction.p4));
  const IndexShape* shape = shape_.built(index);
  const PhysicalType physical = info(out).physical;
  const std::string name = fmt::format("index_{}_{}", index, column);
  const char* element = physical == PhysicalType::Bool       ? "dk_u8"
                        : physical == PhysicalType::Interval ? "dk_i128"
                        : physical == PhysicalType::Text     ? "dk_u32"
                                                             : type_text(physical);
  const int32_t values = static_cast<int32_t>(IndexPart::FirstColumn) + index_column_parts * column;
  declare(name, fmt::format("DK_GLOBAL const {0}* {1} = DK_AT(const {0}, {2});", element, name,
                            word(Kind::Index, index, values)));
  const bool has_nulls = shape->has_nulls[static_cast<size_t>(column)];
  if (has_nulls)
    declare(name + "_known", fmt::format("DK_GLOBAL const dk_u8* {}_known = DK_AT(const dk_u8, {});", name,
                                         word(Kind::Index, index, values + 1)));
  const std::string row = found_row(instruction);
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
