#include "bind/file_options.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/suggestion.h"

namespace diptych {

namespace {

struct OptionSpelling {
  const char* name;
  enum class What : uint8_t { Format, Header, Delimiter, Null, Quote, Escape, Encoding } what;
};

constexpr OptionSpelling option_spellings[] = {
    {"format", OptionSpelling::What::Format},       {"header", OptionSpelling::What::Header},
    {"delimiter", OptionSpelling::What::Delimiter}, {"delim", OptionSpelling::What::Delimiter},
    {"sep", OptionSpelling::What::Delimiter},       {"null", OptionSpelling::What::Null},
    {"nullstr", OptionSpelling::What::Null},        {"quote", OptionSpelling::What::Quote},
    {"escape", OptionSpelling::What::Escape},       {"encoding", OptionSpelling::What::Encoding},
};

constexpr const char* options_not_there[] = {"freeze", "force_quote", "force_not_null", "force_null", "oids"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

[[noreturn]] void bad_value(const syntax::Option& option, const std::string& wanted) {
  throw Error(SqlState::invalid_parameter_value, "option " + option.name + " must be " + wanted, option.position);
}

bool truth_of(const syntax::Option& option) {
  const std::string value = lower(option.value);
  if (!option.has_value || value == "true" || value == "on" || value == "1") return true;
  if (value == "false" || value == "off" || value == "0") return false;
  bad_value(option, "true or false");
}

char character_of(const syntax::Option& option) {
  if (option.value == "\\t") return '\t';
  if (option.value.size() != 1) bad_value(option, "a single one-byte character");
  return option.value.front();
}

void apply(FileOptions& options, const syntax::Option& option) {
  const auto found = std::find_if(std::begin(option_spellings), std::end(option_spellings),
                                  [&](const OptionSpelling& spelling) { return lower(option.name) == spelling.name; });
  if (found == std::end(option_spellings)) {
    for (const char* name : options_not_there) {
      if (option.name == name)
        throw Error(SqlState::feature_not_supported, "option " + option.name + " is not supported yet",
                    option.position);
    }
    std::vector<std::string> names;
    for (const OptionSpelling& spelling : option_spellings) names.emplace_back(spelling.name);
    throw Error(SqlState::syntax_error, "option \"" + option.name + "\" not recognized", option.position,
                suggest(option.name, names));
  }
  switch (found->what) {
    case OptionSpelling::What::Format: {
      const std::string format = lower(option.value);
      if (format != "csv" && format != "parquet") bad_value(option, "csv or parquet");
      options.format = format == "csv" ? FileFormat::Csv : FileFormat::Parquet;
      break;
    }
    case OptionSpelling::What::Header: options.header = truth_of(option); break;
    case OptionSpelling::What::Delimiter: options.delimiter = character_of(option); break;
    case OptionSpelling::What::Null: options.null_string = option.value; break;
    case OptionSpelling::What::Quote: options.quote = character_of(option); break;
    case OptionSpelling::What::Escape: options.escape = character_of(option); break;
    case OptionSpelling::What::Encoding: {
      const std::string encoding = lower(option.value);
      if (encoding != "utf8" && encoding != "utf-8") bad_value(option, "UTF8");
      break;
    }
  }
}

// A quote that is given counts as escape, too, unless that is given.
void derive_escape(FileOptions& options, const std::vector<syntax::Option>& given) {
  const auto names = [&](const char* name) {
    return std::any_of(given.begin(), given.end(),
                       [&](const syntax::Option& option) { return lower(option.name) == name; });
  };
  if (names("quote") && !names("escape")) options.escape = options.quote;
}

// The value of an argument that must be a literal.
std::optional<std::string> literal_text(const syntax::Expression& e) {
  if (const auto* text = std::get_if<syntax::StringLiteral>(&e.node)) return text->text;
  if (const auto* truth = std::get_if<syntax::BooleanLiteral>(&e.node)) return truth->value ? "true" : "false";
  if (const auto* number = std::get_if<syntax::IntegerLiteral>(&e.node)) return std::to_string(number->value);
  return std::nullopt;
}

// name => value, or name = value as DuckDB has it.
std::optional<syntax::Option> named_argument(const syntax::Call& call, size_t i) {
  const syntax::Expression* value = call.args[i].get();
  std::string name = call.argument_names[i];
  if (name.empty()) {
    const auto* equality = std::get_if<syntax::Operator>(&value->node);
    if (!equality || equality->symbol != "=" || equality->args.size() != 2) return std::nullopt;
    const auto* column = std::get_if<syntax::ColumnName>(&equality->args[0]->node);
    if (!column || column->parts.size() != 1) return std::nullopt;
    name = column->parts[0];
    value = equality->args[1].get();
  }
  const std::optional<std::string> text = literal_text(*value);
  if (!text) throw Error(SqlState::invalid_parameter_value, "option " + name + " must be a literal", value->position);
  return syntax::Option{name, *text, true, value->position};
}

}  // namespace

FileOptions file_options(const std::string& path, const std::vector<syntax::Option>& options) {
  FileOptions result = options_for(path);
  for (const syntax::Option& option : options) apply(result, option);
  derive_escape(result, options);
  return result;
}

FileCall read_file_call(const syntax::Call& call, int position) {
  const auto* path = call.args.empty() ? nullptr : std::get_if<syntax::StringLiteral>(&call.args[0]->node);
  if (!path)
    throw Error(SqlState::undefined_function, call.name + " takes the path of a file as a string literal", position);
  std::vector<syntax::Option> options;
  for (size_t i = 1; i < call.args.size(); ++i) {
    const std::optional<syntax::Option> option = named_argument(call, i);
    if (!option)
      throw Error(SqlState::undefined_function, call.name + " takes one path, then options by name",
                  call.args[i]->position);
    options.push_back(*option);
  }
  FileCall result{path->text, file_options(path->text, options)};
  result.options.format = call.name == "read_csv" ? FileFormat::Csv : FileFormat::Parquet;
  return result;
}

}  // namespace diptych
