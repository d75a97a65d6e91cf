// The sink of a row set: like rows of a result, in the order of the input; where it is sorted, with the words that it
// is sorted by.
#include "engine/gpu/generator/section_generator.h"
#include "engine/gpu/sort/key_text.h"
#include "engine/rows/sort_key_layout.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

void SectionGenerator::write_append(int32_t address) {
  const Instruction& instruction = at(address);
  const RowSetInfo& row_set = program_.row_sets[static_cast<size_t>(instruction.p1)];
  for (int32_t i = 0; i < instruction.p3; ++i)
    add_output(instruction.p2 + i, row_set.columns[static_cast<size_t>(i)].physical);
  const bool is_sorted = kernel_.sink == SectionKernel::Sink::Sort;
  open_rows(is_sorted ? 8 : 1);
  if (is_sorted) write_sort_words(instruction, row_set);
  for (size_t i = 0; i < kernel_.outputs.size(); ++i) write_put(kernel_.outputs[i], i);
  close_rows();
}

void SectionGenerator::write_sort_words(const Instruction& instruction, const RowSetInfo& row_set) {
  const SortKeyLayout layout(row_set);
  kernel_.sort_words = layout.words;
  if (layout.words == 0) return;
  use_file("sort_key.h");
  body_.open("{{");
  for (size_t i = 0; i < layout.words; ++i) body_.line("dk_u64 words_{}[DK_ROWS];", i);
  body_.open("DK_FOR_ROWS(k) {{");
  body_.line("dk_u64 key[{}];", layout.words);
  for (size_t i = 0; i < layout.keys.size(); ++i)
    write_sort_key(layout.keys[i], static_cast<int32_t>(i), instruction.p2 + static_cast<int32_t>(i));
  for (size_t i = 0; i < layout.words; ++i) body_.line("words_{0}[k] = key[{0}];", i);
  body_.close();
  for (size_t i = 0; i < layout.words; ++i) {
    body_.line(
        "dk_team_put{}_u64((DK_LOCAL dk_u64*)stage, rows, position, words_{}, total, DK_AT(dk_u64, {}), place, "
        "capacity);",
        kernel_.rows_per_thread, i, word(Kind::SortWord, static_cast<int32_t>(i)));
  }
  body_.close();
}

// The statements that set the words of a key for row k.
void SectionGenerator::write_sort_key(SortKeyPlace place, int32_t key, int32_t number) {
  const std::string nulls = known(number);
  const std::string valid = nulls == all_rows ? "1" : fmt::format("(dk_bool)({} >> k & 1U)", nulls);
  std::string value;
  if (reg(number).form == Form::Code) {
    // Strings sort as their ranks in the dictionary do. Only rows that are there have a code that can be looked up.
    const auto column = static_cast<int32_t>(reg(number).column);
    const std::string name = fmt::format("ranks_{}", column);
    declare(name, fmt::format("DK_GLOBAL const dk_u32* {} = DK_AT(const dk_u32, {});", name,
                              word(Kind::DictionaryRanks, column)));
    body_.line("const dk_i64 rank_{} = (({}) >> k & 1U) != 0 ? (dk_i64){}[r{}[k]] : 0;", number, both("rows", nulls),
               name, number);
    value = fmt::format("rank_{}", number);
    place.physical = PhysicalType::Int64;
  } else if (place.physical == PhysicalType::Text) {
    body_.line("const dk_text text_{} = (({}) >> k & 1U) != 0 ? {} : dk_make_text(0, 0);", number, both("rows", nulls),
               operand(number));
    value = fmt::format("text_{}", number);
    kernel_.sort_texts.push_back({place.at + (place.nullable ? 1 : 0), static_cast<size_t>(key), place.descending});
  } else {
    value = widened(operand(number), info(number).physical, place.physical);
  }
  SortBoundText bounds;
  if (place.bits > 0) bounds.first_value = word(Kind::SortBound, key, 0);
  if (place.bits > 0 && place.nullable && !place.nulls_first) bounds.null_code = word(Kind::SortBound, key, 1);
  const std::string statements = sort_key_statements(place, bounds, value, valid, "key");
  for (size_t start = 0; start < statements.size();) {
    const size_t end = statements.find('\n', start);
    body_.line("{}", statements.substr(start, end - start));
    start = end + 1;
  }
}

}  // namespace diptych::gpu
