#include "bind/file_options.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/suggestion.h"

namespace diptych {

namespace {

struct OptionSpelling {
  const char* name;
  enum class What : uint8_t { Format, Header, Delimiter, Null, Quote, Escape, Encoding, AllText } what;
};

constexpr OptionSpelling option_spellings[] = {
    {"format", OptionSpelling::What::Format},       {"header", OptionSpelling::What::Header},
    {"delimiter", OptionSpelling::What::Delimiter}, {"delim", OptionSpelling::What::Delimiter},
    {"sep", OptionSpelling::What::Delimiter},       {"null", OptionSpelling::What::Null},
    {"nullstr", OptionSpelling::What::Null},        {"quote", OptionSpelling::What::Quote},
    {"escape", OptionSpelling::What::Escape},       {"encoding", OptionSpelling::What::Encoding},
    {"all_varchar", OptionSpelling::What::AllText},
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
  throw Error(SqlState::syntax_error, "option " + option.name + " must be true or false", option.position);
}

char character_of(const syntax::Option& option) {
  if (option.value == "\\t") return '\t';
  if (option.value.size() != 1) {
    throw Error(SqlState::feature_not_supported, "option " + option.name + " must be a single one-byte character",
                option.position);
  }
  return option.value.front();
}

// Errors: 0A000, 42601 an option that is not there.
const OptionSpelling* spelling_of(const syntax::Option& option) {
  const auto found = std::find_if(std::begin(option_spellings), std::end(option_spellings),
                                  [&](const OptionSpelling& spelling) { return lower(option.name) == spelling.name; });
  if (found != std::end(option_spellings)) return found;
  for (const char* name : options_not_there) {
    if (option.name == name)
      throw Error(SqlState::feature_not_supported, "option " + option.name + " is not supported yet", option.position);
  }
  std::vector<std::string> names;
  for (const OptionSpelling& spelling : option_spellings) names.emplace_back(spelling.name);
  throw Error(SqlState::syntax_error, "option \"" + option.name + "\" not recognized", option.position,
              suggest(option.name, names));
}

void apply(FileOptions& options, const syntax::Option& option) {
  switch (spelling_of(option)->what) {
    case OptionSpelling::What::Format: {
      const std::string format = lower(option.value);
      if (format != "csv" && format != "parquet") bad_value(option, "csv or parquet");
      options.format = format == "csv" ? FileFormat::Csv : FileFormat::Parquet;
      break;
    }
    case OptionSpelling::What::Header:
      options.match_header = lower(option.value) == "match";
      options.header = options.match_header || truth_of(option);
      break;
    case OptionSpelling::What::AllText: options.all_text = truth_of(option); break;
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

bool is_given(const std::vector<syntax::Option>& given, OptionSpelling::What what) {
  return std::any_of(given.begin(), given.end(),
                     [what](const syntax::Option& option) { return spelling_of(option)->what == what; });
}

// Errors: 42601 an option that is given twice.
void check_given_once(const std::vector<syntax::Option>& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (spelling_of(given[i])->what == spelling_of(given[j])->what)
        throw Error(SqlState::syntax_error, "option " + given[i].name + " is given twice", given[i].position);
    }
  }
}

// Characters that would make a file mean two things, with PostgreSQL's rules and codes. Errors: 22023, 0A000.
void check_characters(const FileOptions& options, int position) {
  const auto check = [position](bool good, SqlState state, const char* rule) {
    if (!good) throw Error(state, rule, position);
  };
  const auto ends_line = [](char c) { return c == '\n' || c == '\r'; };
  const std::string& null = options.null_string;
  constexpr SqlState invalid = SqlState::invalid_parameter_value, refused = SqlState::feature_not_supported;
  check(!ends_line(options.delimiter), invalid, "the delimiter cannot be newline or carriage return");
  check(!ends_line(options.quote), invalid, "the quote cannot be newline or carriage return");
  check(std::none_of(null.begin(), null.end(), ends_line), invalid,
        "the null string cannot use newline or carriage return");
  check(options.delimiter != options.quote, invalid, "delimiter and quote must be different");
  check(null.find(options.delimiter) == null.npos, refused, "the delimiter must not appear in the null string");
  check(null.find(options.quote) == null.npos, refused, "the quote must not appear in the null string");
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

FileOptions file_options(const std::string& path, const std::vector<syntax::Option>& options, int position) {
  check_given_once(options);
  const std::optional<FileOptions> by_name = options_for(path);
  FileOptions result = by_name.value_or(FileOptions{});
  for (const syntax::Option& option : options) apply(result, option);
  if (!by_name && !is_given(options, OptionSpelling::What::Format)) {
    throw Error(SqlState::invalid_parameter_value, "the name of '" + path + "' does not say what format the file has",
                position,
                "Names that end in " + known_endings() +
                    " do. Others can be read with read_csv('...') or read_parquet('...'), and copied with FORMAT csv "
                    "or FORMAT parquet.");
  }
  // A quote that is given counts as escape, too, unless that is given.
  if (is_given(options, OptionSpelling::What::Quote) && !is_given(options, OptionSpelling::What::Escape))
    result.escape = result.quote;
  if (result.format == FileFormat::Csv) check_characters(result, position);
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
  options.push_back({"format", call.name == "read_csv" ? "csv" : "parquet", true, position});
  return {path->text, file_options(path->text, options, position)};
}

}  // namespace diptych
