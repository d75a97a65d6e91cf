#include "base/settings.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/machine.h"
#include "base/suggestion.h"

namespace diptych {

namespace {

constexpr std::array infos = {
#define DIPTYCH_SETTING(name, value_kind, initial, low, high, documentation) \
  SettingInfo{#name, SettingKind::value_kind, initial, low, high, "", documentation},
#define DIPTYCH_CHOICE(name, choices, documentation) \
  SettingInfo{#name, SettingKind::Choice, 0, 0, 0, choices, documentation},
#define DIPTYCH_TEXT(name, initial, documentation) \
  SettingInfo{#name, SettingKind::Text, 0, 0, 0, initial, documentation},
#include "base/settings.def"
#undef DIPTYCH_SETTING
#undef DIPTYCH_CHOICE
#undef DIPTYCH_TEXT
};

const SettingInfo& info_named(std::string_view name) {
  for (const SettingInfo& info : infos)
    if (name == info.name) return info;
  std::vector<std::string> names;
  for (const SettingInfo& info : infos) names.emplace_back(info.name);
  throw Error(SqlState::undefined_object, "unrecognized configuration parameter \"" + std::string(name) + "\"", -1,
              suggest(name, names));
}

// ASCII letters, whatever the application's locale.
std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return text;
}

bool is_choice(const SettingInfo& info, const std::string& word) {
  return word.find('|') == std::string::npos &&
         ("|" + std::string(info.choices) + "|").find("|" + word + "|") != std::string::npos;
}

// auto, cpu, cuda, opencl, cuda:N, opencl:N, N without leading zeros. Whether there is such a device is not asked here.
bool is_device_name(std::string_view name) {
  const size_t colon = name.find(':');
  const std::string_view api = name.substr(0, colon);
  if (colon == std::string_view::npos) return api == "auto" || api == "cpu" || api == "cuda" || api == "opencl";
  const std::string_view digits = name.substr(colon + 1);
  return (api == "cuda" || api == "opencl") && !digits.empty() && digits.size() <= 3 &&
         (digits == "0" || !digits.starts_with('0')) &&
         digits.find_first_not_of("0123456789") == std::string_view::npos;
}

[[noreturn]] void refuse(const SettingInfo& info, const std::string& value, const std::string& wanted) {
  throw Error(SqlState::invalid_parameter_value,
              "invalid value for parameter \"" + std::string(info.name) + "\": \"" + value + "\"", -1, wanted);
}

int64_t initial_of(const SettingInfo& info) {
  if (info.initial >= 0) return info.initial;
  if (info.kind == SettingKind::Bytes) return machine_memory_bytes() / 4 * 3;
  return machine_threads();
}

struct Unit {
  const char* name;
  int64_t bytes;
};
constexpr std::array units = {Unit{"TB", int64_t{1} << 40}, Unit{"GB", int64_t{1} << 30}, Unit{"MB", int64_t{1} << 20},
                              Unit{"KB", int64_t{1} << 10}, Unit{"B", 1}};

// A number and, for bytes, an optional unit.
std::optional<int64_t> parse_number(std::string text, bool with_unit) {
  int64_t unit_bytes = 1;
  if (with_unit) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    for (const Unit& unit : units) {
      if (!text.ends_with(unit.name)) continue;
      text.resize(text.size() - std::strlen(unit.name));
      while (text.ends_with(' ')) text.pop_back();
      unit_bytes = unit.bytes;
      break;
    }
  }
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  number *= static_cast<double>(unit_bytes);
  if (!(number >= -9e18 && number <= 9e18) ||
      (!with_unit && number != static_cast<double>(static_cast<int64_t>(number))))
    return std::nullopt;
  return static_cast<int64_t>(number);
}

std::string bytes_text(int64_t bytes) {
  for (const Unit& unit : units)
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + unit.name;
  return std::to_string(bytes);
}

std::string first_choice(const SettingInfo& info) {
  const std::string_view choices = info.choices;
  return std::string(choices.substr(0, choices.find('|')));
}

}  // namespace

std::span<const SettingInfo> setting_infos() { return infos; }

Settings::Settings() {
  for (const SettingInfo& info : infos) set(info.name, nullptr);
}

void Settings::set(std::string_view name, const std::string* value) {
  const SettingInfo& info = info_named(name);
  int64_t number = 0;
  std::string choice;
  if (info.kind == SettingKind::Choice) {
    choice = value ? lower_case(*value) : first_choice(info);
    if (!is_choice(info, choice)) refuse(info, *value, "One of: " + std::string(info.choices));
  } else if (info.kind != SettingKind::Text) {
    const auto parsed = value ? parse_number(*value, info.kind == SettingKind::Bytes) : initial_of(info);
    if (!parsed) refuse(info, *value, "A number is needed.");
    number = *parsed;
    if (value && (number < info.low || number > info.high))
      refuse(info, *value, "It must be from " + std::to_string(info.low) + " to " + std::to_string(info.high) + ".");
    if (name == "tablet_rows" && !std::has_single_bit(static_cast<uint64_t>(number)))
      refuse(info, *value, "It must be a power of two.");
  }
  std::string text = value ? *value : info.choices;
  if (name == "device") {
    text = lower_case(text);
    if (!is_device_name(text))
      refuse(info, *value, "One of: auto, cpu, cuda, cuda:N, opencl, opencl:N; SHOW devices lists what there is.");
  }
#define DIPTYCH_SETTING(setting, value_kind, initial, low, high, documentation) \
  if (name == #setting) setting = number;
#define DIPTYCH_CHOICE(setting, choices, documentation) \
  if (name == #setting) setting = choice;
#define DIPTYCH_TEXT(setting, initial, documentation) \
  if (name == #setting) setting = text;
#include "base/settings.def"
#undef DIPTYCH_SETTING
#undef DIPTYCH_CHOICE
#undef DIPTYCH_TEXT
}

std::string Settings::text_of(std::string_view name) const {
  const SettingInfo& info = info_named(name);
#define DIPTYCH_SETTING(setting, value_kind, initial, low, high, documentation) \
  if (name == #setting) return info.kind == SettingKind::Bytes ? bytes_text(setting) : std::to_string(setting);
#define DIPTYCH_CHOICE(setting, choices, documentation) \
  if (name == #setting) return setting;
#define DIPTYCH_TEXT(setting, initial, documentation) DIPTYCH_CHOICE(setting, initial, documentation)
#include "base/settings.def"
#undef DIPTYCH_SETTING
#undef DIPTYCH_CHOICE
#undef DIPTYCH_TEXT
  return "";
}

}  // namespace diptych
