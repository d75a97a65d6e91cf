#include "kernel/kernel_library.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <vector>

#include "base/error.h"

namespace diptych {

namespace {

struct EmbeddedText {
  std::string_view name;
  std::string_view text;
};

constexpr EmbeddedText embedded[] = {
#include "kernel_texts.inc"
};

// The files in the order of kernel.h, then those for devices; with each the files that it uses directly.
struct KernelFile {
  std::string_view name;
  std::vector<std::string_view> needs;
};

const std::vector<KernelFile>& kernel_files() {
  static const std::vector<KernelFile> files = {
      {"dialect.h", {}},
      {"wide.h", {"dialect.h"}},
      {"integer.h", {"wide.h"}},
      {"bits.h", {"dialect.h"}},
      {"float.h", {"integer.h"}},
      {"numeric.h", {"integer.h"}},
      {"exact_moments.h", {"numeric.h"}},
      {"narrow.h", {"integer.h"}},
      {"hash.h", {"dialect.h"}},
      {"cast.h", {"float.h", "numeric.h"}},
      {"calendar.h", {"integer.h"}},
      {"date.h", {"calendar.h", "hash.h"}},
      {"text.h", {"integer.h"}},
      {"sort_key.h", {"float.h", "date.h", "text.h"}},
      {"letter_case.h", {"text.h"}},
      {"words.h", {"letter_case.h"}},
      {"extract.h", {"date.h", "numeric.h", "words.h"}},
      {"like.h", {"hash.h", "letter_case.h"}},
      {"text_out.h", {"letter_case.h"}},
      {"print.h", {"calendar.h"}},
      {"parse_number.h", {"numeric.h", "letter_case.h", "print.h"}},
      {"parse_fields.h", {"words.h", "parse_number.h"}},
      {"parse_date.h", {"parse_fields.h"}},
      {"parse_interval.h", {"extract.h", "parse_fields.h"}},
      {"device/platform.h", {"dialect.h"}},
      {"device/load.h", {"device/platform.h"}},
      {"device/block.h", {"wide.h", "device/platform.h"}},
      {"device/look_back.h", {"device/block.h"}},
      {"device/team.h", {"device/block.h"}},
      {"device/section.h", {"device/load.h"}},
      {"device/pick.h", {"device/team.h", "device/section.h"}},
      {"device/pairs.h", {"device/team.h", "device/section.h"}},
      {"device/long_rows.h", {"device/platform.h"}},
      {"device/packed_codes.h", {"device/platform.h"}},
      {"device/strings.h", {"text.h"}},
      {"device/text_row.h", {"text_out.h", "device/platform.h"}},
      {"device/text_starts.h", {"device/look_back.h"}},
      {"device/text_copy.h", {"wide.h", "device/platform.h"}},
      {"device/value_set.h", {"float.h"}},
      {"device/interval_set.h", {"date.h", "device/value_set.h"}},
      {"device/aggregate.h", {"integer.h", "device/block.h"}},
      {"device/group_text.h", {"hash.h", "device/platform.h"}},
      {"device/group_table.h", {"device/group_text.h"}},
      {"device/group_strings.h", {"wide.h", "device/platform.h"}},
      {"device/null_bits.h", {"device/platform.h"}},
      {"device/text_offsets.h", {"device/platform.h"}},
      {"device/index_find.h", {"device/group_table.h"}},
      {"device/index_build.h", {"device/index_find.h"}},
      {"device/group_states.h", {"device/aggregate.h"}},
      {"device/exact_groups.h", {"exact_moments.h", "device/aggregate.h"}},
      {"device/group_extremes.h", {"text.h", "date.h", "device/group_text.h", "device/group_states.h"}},
      {"device/group_rows.h", {"device/group_table.h"}},
      {"device/row_stage.h", {"device/group_rows.h", "device/block.h"}},
      {"device/group_starts.h", {"device/look_back.h"}},
      {"device/row_runs.h", {"device/block.h"}},
      {"device/radix_sort.h", {"device/row_runs.h"}},
      {"device/row_select.h", {"device/row_runs.h"}},
      {"device/row_ties.h", {"text.h", "device/row_runs.h"}},
      {"device/sort_rows.h", {"device/block.h"}},
      {"device/top_rows.h", {"device/row_runs.h"}},
      {"device/interpreter_codes.h", {"dialect.h"}},
      {"device/interpreter.h",
       {"device/section.h", "device/team.h", "device/look_back.h", "device/aggregate.h", "device/value_set.h",
        "device/interpreter_codes.h"}},
      {"device/interpreter_range.h", {"device/interpreter.h"}},
      {"device/interpreter_rows.h", {"device/interpreter.h", "device/pick.h"}},
      {"device/interpret.h", {}},
      {"device/opencl_declarations.h", {}},
  };
  return files;
}

const KernelFile& kernel_file(std::string_view name) {
  const auto& files = kernel_files();
  const auto found = std::ranges::find(files, name, &KernelFile::name);
  if (found == files.end()) throw Error(SqlState::internal_error, "no kernel file is named " + std::string(name));
  return *found;
}

std::string_view text_of(std::string_view name) {
  const auto found = std::ranges::find(embedded, name, &EmbeddedText::name);
  check_invariant(found != std::end(embedded), "every file of the kernel library is embedded");
  return found->text;
}

void add_with_needs(std::string_view name, std::vector<std::string_view>& wanted) {
  if (std::ranges::find(wanted, name) != wanted.end()) return;
  wanted.push_back(name);
  for (std::string_view needed : kernel_file(name).needs) add_with_needs(needed, wanted);
}

using FunctionFiles = std::map<std::string, std::string_view, std::less<>>;

// `pattern` is what stands after DK_FN and a type: a name, in a macro with ##parameter## in it. Adds the name that the
// macro makes of the arguments.
void add_made(const std::string& pattern, const std::vector<std::string>& parameters,
              const std::vector<std::string>& arguments, std::string_view file, FunctionFiles& files) {
  std::string name = pattern;
  for (size_t i = 0; i < parameters.size() && i < arguments.size(); ++i) {
    for (const std::string& marked : {"##" + parameters[i] + "##", "##" + parameters[i]}) {
      for (size_t at; (at = name.find(marked)) != std::string::npos;) name.replace(at, marked.size(), arguments[i]);
    }
  }
  files.emplace(name, file);
}

std::vector<std::string> comma_separated(const std::string& list) {
  static const std::regex word(R"([^,\s]+)");
  return {std::sregex_token_iterator(list.begin(), list.end(), word), std::sregex_token_iterator()};
}

struct FunctionMacro {
  std::vector<std::string> parameters;
  std::vector<std::string> patterns;
};

// Reads one file line by line: a definition starts with DK_FN at the start of a line, or indented within a macro; a
// macro is used by a line that starts with its name.
void add_functions_of(const KernelFile& file, FunctionFiles& files) {
  static const std::regex function(R"(^\s*DK_FN [\w ]*?(?:DK_\w+ )?[\w]+\*? (dk_[\w#]+)\()");
  static const std::regex definition(R"(^#define (\w+)\(([^)]*)\).*\\$)");
  static const std::regex use(R"(^(DK_\w+)\(([^,)]*(?:,[^,)]*)*)\)?)");
  std::map<std::string, FunctionMacro> macros;
  FunctionMacro* inside = nullptr;
  const std::string text(text_of(file.name));
  for (size_t from = 0, to; from < text.size(); from = to + 1) {
    to = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, to - from);
    std::smatch match;
    // Most lines are none of these, which is seen sooner without an expression.
    if (line.starts_with("#define ") && line.back() == '\\' && std::regex_search(line, match, definition)) {
      inside = &macros[match[1]];
      inside->parameters = comma_separated(match[2]);
    } else if (line.find("DK_FN ") != std::string::npos && std::regex_search(line, match, function)) {
      if (inside != nullptr)
        inside->patterns.push_back(match[1]);
      else
        files.emplace(match[1], file.name);
    } else if (line.starts_with("DK_") && std::regex_search(line, match, use) && macros.contains(match[1])) {
      const FunctionMacro& macro = macros[match[1]];
      for (const std::string& pattern : macro.patterns)
        add_made(pattern, macro.parameters, comma_separated(match[2]), file.name, files);
    }
    if (line.empty() || line.back() != '\\') inside = nullptr;
  }
}

const FunctionFiles& function_files() {
  static const FunctionFiles found = [] {
    FunctionFiles files;
    for (const KernelFile& file : kernel_files()) {
      if (!file.name.starts_with("device/")) add_functions_of(file, files);
    }
    return files;
  }();
  return found;
}

}  // namespace

std::string kernel_text(std::span<const std::string_view> files) {
  std::vector<std::string_view> wanted;
  for (std::string_view name : files) add_with_needs(name, wanted);
  std::string text;
  for (const KernelFile& file : kernel_files()) {
    if (std::ranges::find(wanted, file.name) != wanted.end()) text += text_of(file.name);
  }
  return text;
}

std::string_view file_of_function(std::string_view name) {
  const auto& files = function_files();
  const auto found = files.find(name);
  return found == files.end() ? std::string_view() : found->second;
}

std::string_view file_of_function(FunctionId id) {
  const FunctionInfo& info = info_of(id);
  const std::string name = std::string("dk_") + info.kernel_name;
  return file_of_function(info.has_flag(DK_TEXT_OUT) ? name + "_size" : name);
}

std::span<const std::string_view> kernel_file_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const KernelFile& file : kernel_files()) all.push_back(file.name);
    return all;
  }();
  return names;
}

}  // namespace diptych
