#include "shell/display_width.h"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>

namespace diptych::shell {

namespace {

struct CodePoint {
  wchar_t value = 0;
  size_t bytes = 0;  // 0: not valid UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {static_cast<wchar_t>(lead), 1};
  const size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                       : lead >= 0xE0 && lead < 0xF0 ? 3
                       : lead >= 0xC2 && lead < 0xE0 ? 2
                                                     : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  wchar_t value = static_cast<wchar_t>(lead & (0x7F >> bytes));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3F);
  }
  return {value, bytes};
}

}  // namespace

Glyph first_glyph(std::string_view text) {
  const CodePoint point = decode(text);
  if (point.bytes == 0) return {1, 1};
  const int cells = wcwidth(point.value);
  return {point.bytes, cells < 0 ? size_t{1} : static_cast<size_t>(cells)};
}

size_t display_width(std::string_view text) {
  size_t cells = 0;
  while (!text.empty()) {
    const Glyph glyph = first_glyph(text);
    cells += glyph.cells;
    text.remove_prefix(glyph.bytes);
  }
  return cells;
}

std::string cut_to_width(std::string_view text, size_t cells) {
  if (display_width(text) <= cells) return std::string(text);
  size_t used = 0;
  size_t bytes = 0;
  while (bytes < text.size()) {
    const Glyph glyph = first_glyph(text.substr(bytes));
    if (used + glyph.cells + 1 > cells) break;
    used += glyph.cells;
    bytes += glyph.bytes;
  }
  return std::string(text.substr(0, bytes)) + "…";
}

std::string escape_control(std::string_view text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::none_of(text.begin(), text.end(), is_control)) return std::string(text);
  std::string escaped;
  for (const char c : text) {
    if (c == '\n') {
      escaped += "\\n";
    } else if (c == '\t') {
      escaped += "\\t";
    } else if (c == '\r') {
      escaped += "\\r";
    } else if (is_control(c)) {
      escaped += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace diptych::shell
