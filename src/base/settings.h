// The settings of a connection: one table (settings.def), from which come the names, the checks, SHOW ALL and
// docs/settings.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace diptych {

enum class SettingKind : uint8_t { Integer, Bytes, Choice, Text };

struct SettingInfo {
  const char* name;
  SettingKind kind;
  int64_t initial;  // -1: what the machine has
  int64_t low, high;
  const char* choices;  // of a Choice, separated by |; of a Text, the default
  const char* documentation;
};

std::span<const SettingInfo> setting_infos();

// Thread safety: none of its own.
class Settings {
 public:
  Settings();

#define DIPTYCH_SETTING(name, kind, initial, low, high, documentation) int64_t name = initial;
#define DIPTYCH_CHOICE(name, choices, documentation) std::string name;
#define DIPTYCH_TEXT(name, initial, documentation) std::string name;
#include "base/settings.def"
#undef DIPTYCH_SETTING
#undef DIPTYCH_CHOICE
#undef DIPTYCH_TEXT

  // Sets from text; nullptr: back to the default. Words of a Choice and devices may be in upper case; lower case is
  // kept. Errors: 42704 no such setting, with a hint when one is spelt alike; 22023 a value out of its range.
  void set(std::string_view name, const std::string* value);
  // The value as SHOW shows it. Errors: 42704.
  std::string text_of(std::string_view name) const;
};

}  // namespace diptych
