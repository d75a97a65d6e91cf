#include "engine/gpu/interpreter/interpreter_text.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "engine/gpu/generator/kernel_writer.h"
#include "engine/gpu/interpreter/scalar_case.h"
#include "kernel/kernel_library.h"

namespace diptych::gpu {
namespace {

constexpr const char* interpreter_entry = "interpret_section";

class InterpreterText {
 public:
  explicit InterpreterText(bool with_functions) : table_(CaseTable::of(with_functions)) {}

  std::string make() {
    write_values();
    write_conditions();
    write_rows();
    const std::string cases = out_.take();
    files_.insert(files_.end(), {"device/interpreter_range.h", "device/interpreter_rows.h"});
    use_functions_of(cases);
    return fmt::format("#define DK_GROUP_SIZE {}\n#define DK_PARAMETER_WORDS {}\n#define DK_ROWS {}\n", group_size,
                       std::size(interpreter_parameters), interpreter_rows) +
           kernel_text(files_) + cases + kernel_text({"device/interpret.h"});
  }

 private:
  static bool raises(const std::string& text) { return text.find("&error") != std::string::npos; }

  // The error of the first of the `live` rows that has one is returned.
  void write_values() {
    out_.open(
        "DK_APART dk_i32 dk_value_case(dk_u32 number, DK_PRIVATE const dk_i64* a, DK_PRIVATE const dk_i64* b, dk_u32 "
        "live, "
        "dk_i32 first, dk_i32 second, DK_PRIVATE dk_i64* values) {{");
    out_.line("dk_i32 failed = 0;");
    out_.open("switch (number) {{");
    int number = 0;
    for (const std::string& text : table_.texts(CasePath::Value)) {
      out_.line("case {}:", number++);
      out_.open("DK_FOR_QUAD(k) {{");
      if (raises(text)) out_.line("dk_i32 error = 0;");
      out_.line("values[k] = {};", text);
      if (raises(text)) out_.line("if ((live >> k & 1U) != 0 && failed == 0) failed = error;");
      out_.close();
      out_.line("break;");
    }
    out_.line("default: break;");
    out_.close();
    out_.line("return failed;");
    out_.close();
  }

  void write_conditions() {
    out_.open(
        "DK_APART dk_u32 dk_compare_case(dk_u32 number, DK_PRIVATE const dk_i64* a, DK_PRIVATE const dk_i64* b) {{");
    out_.line("dk_u32 holds = 0;");
    out_.open("switch (number) {{");
    int number = 0;
    for (const std::string& text : table_.texts(CasePath::Compare)) {
      out_.line("case {}:", number++);
      out_.line("  DK_FOR_QUAD(k) {{ holds |= (dk_u32)({}) << k; }}", text);
      out_.line("  break;");
    }
    out_.line("default: break;");
    out_.close();
    out_.line("return holds;");
    out_.close();
  }

  void write_rows() {
    out_.open(
        "DK_FAR dk_i128 dk_row_case(dk_u32 number, DK_PRIVATE const dk_i128* x, dk_i32 first, dk_i32 second, "
        "DK_PRIVATE dk_i32* failed) {{");
    out_.line("dk_i32 error = 0;");
    out_.line("dk_i128 r = dk_widen_i64(0);");
    out_.open("switch (number) {{");
    int number = 0;
    for (const std::string& text : table_.texts(CasePath::Rows)) out_.line("case {}: r = {}; break;", number++, text);
    out_.line("default: break;");
    out_.close();
    out_.line("*failed = error;");
    out_.line("return r;");
    out_.close();
  }

  // The files of the scalar functions that the operations name.
  void use_functions_of(const std::string& text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789_";
    for (size_t at = text.find("dk_"); at != std::string::npos; at = text.find("dk_", at + 1)) {
      const size_t end = text.find_first_not_of(letters, at);
      const std::string_view file = file_of_function(std::string_view(text).substr(at, end - at));
      if (!file.empty() && std::ranges::find(files_, file) == files_.end()) files_.push_back(file);
    }
  }

  const CaseTable& table_;
  KernelWriter out_;
  std::vector<std::string_view> files_;
};

}  // namespace

const KernelText& interpreter_text(bool with_functions) {
  if (with_functions) {
    static const KernelText all(InterpreterText(true).make(), interpreter_entry);
    return all;
  }
  static const KernelText operators(InterpreterText(false).make(), interpreter_entry);
  return operators;
}

}  // namespace diptych::gpu
