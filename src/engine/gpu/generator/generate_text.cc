// Strings: columns of them, those that functions make, and those that a sink takes.
#include "engine/gpu/generator/section_generator.h"
#include "program/operands.h"

namespace diptych::gpu {

using Kind = KernelParameter::Kind;

std::string SectionGenerator::dictionary(int32_t column) {
  const std::string name = fmt::format("strings_{}", column);
  use_file("device/strings.h");
  declare(name,
          fmt::format("DK_GLOBAL const dk_u32* {} = DK_AT(const dk_u32, {});", name, word(Kind::Dictionary, column)));
  declare(name + "_bytes", fmt::format("DK_GLOBAL const char* {}_bytes = DK_AT(const char, {});", name,
                                       word(Kind::DictionaryBytes, column)));
  return name;
}

// The place of a string in a heap takes no time to find, so only those that are wanted are looked at.
void SectionGenerator::write_text_column(int32_t out, const ColumnShape& column, size_t index) {
  const size_t at_word = tablet_words + column_words * index;
  const bool has_heap = column.encoding == Encoding::Heap || column.mixed;
  const bool has_codes = column.encoding == Encoding::Dictionary || column.mixed;
  use_file("device/strings.h");
  body_.open("{{");
  if (has_heap && has_codes) body_.open("if (tablet[{}] != 0) {{", at_word + 5);
  if (has_heap) {
    body_.line("DK_GLOBAL const dk_u32* offsets = DK_AT(const dk_u32, tablet[{}]){};", at_word,
               is_scattered_ ? "" : " + first");
    body_.line("DK_GLOBAL const char* heap = DK_AT(const char, tablet[{}]);", at_word + 5);
    body_.open("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) {{");
    body_.line("r{0}[k] = dk_make_text(heap + offsets[{1}], (dk_i32)(offsets[{1} + 1] - offsets[{1}]));", out,
               is_scattered_ ? "row[k]" : "k");
    body_.close();
  }
  if (has_heap && has_codes) {
    body_.close();
    body_.open("else {{");
  }
  if (has_codes) {
    const std::string strings = dictionary(static_cast<int32_t>(index));
    body_.line("const dk_i32 width = (dk_i32)tablet[{}];", at_word + 4);
    std::string code = "codes[k]";
    if (is_scattered_) {
      code = fmt::format("dk_code_at({}, width, row[k])", column_data(index));
    } else {
      body_.line("dk_u64 codes[DK_ROWS];");
      body_.line("DK_FOR_ROWS(k) codes[k] = 0;");
      body_.line("if (width != 0) dk_load{}_codes({}, width, first, codes);", kernel_.rows_per_thread,
                 column_data(index));
    }
    body_.open("DK_FOR_ROWS(k) if ((active >> k & 1U) != 0) {{");
    body_.line("r{0}[k] = dk_string({1}, {1}_bytes, (dk_u32){2});", out, strings, code);
    body_.close();
  }
  if (has_heap && has_codes) body_.close();
  body_.close();
}

// First what all rows of the work-item need, then one piece of the room for them, then the strings.
void SectionGenerator::write_new_text(int32_t address, const ScalarText& text, const std::string& nulls) {
  const int32_t out = register_written(at(address));
  ++kernel_.new_texts;
  use_file("device/text_row.h");
  declare("text_room", fmt::format("DK_GLOBAL char* text_room = DK_AT(char, {});", word(Kind::TextRoom)));
  declare("text_room_bytes", fmt::format("const dk_u64 text_room_bytes = {};", word(Kind::TextRoomBytes)));
  body_.open("{{");
  body_.line("const dk_u32 live = {};", both("active", nulls));
  body_.line("dk_i32 sizes[DK_ROWS];");
  body_.line("dk_u32 made = 0;");
  body_.line("dk_u64 bytes = 0;");
  body_.open("DK_FOR_ROWS_ROLLED(k) if ((live >> k & 1U) != 0) {{");
  body_.line("dk_i32 error = 0;");
  body_.line("sizes[k] = {};", text.value);
  if (text.raises) body_.line("DK_NOTE_FAILURE(failure, error, 1, {});", address);
  body_.open("if (error == 0) {{");
  body_.line("bytes += (dk_u64)sizes[k];");
  body_.line("made |= 1U << k;");
  body_.close();
  body_.close();
  body_.line("dk_u64 from = dk_take_text_room(control + 3, text_room_bytes, bytes);");
  body_.line("const dk_bool fits = from != ~DK_U64(0);");
  body_.open("DK_FOR_ROWS_ROLLED(k) if ((made >> k & 1U) != 0) {{");
  body_.open("if (fits) {{");
  body_.line("DK_GLOBAL char* out = text_room + from;");
  body_.line("const dk_i32 length = {};", text.write);
  body_.line("from += (dk_u64)sizes[k];");
  body_.line("r{}[k] = dk_make_text(out, length);", out);
  body_.close();
  body_.line("else r{}[k] = dk_text_without_room(text_room, text_room_bytes, sizes[k]);", out);
  body_.close();
  if (info(out).nullable) {
    if (flow_.writers[static_cast<size_t>(out)] > 1) {
      body_.line("v{0} = (v{0} & ~active) | ({1} & active);", out, nulls);
    } else {
      body_.line("v{} = {};", out, nulls);
    }
  }
  body_.close();
}

std::string SectionGenerator::text_row(int32_t number) {
  use_file("device/text_row.h");
  return fmt::format("dk_text_row(DK_SPACES_ARG, {}, {} >> k & 1U)", operand(number), known(number));
}

}  // namespace diptych::gpu
