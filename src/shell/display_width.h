// How many terminal cells a UTF-8 text takes, and texts cut to a number of cells.
//
//   text     "a"  "é"  "日"  "👍"  combining accent  invalid byte
//   cells     1    1    2     2          0               1
//
// Widths come from the C library's wcwidth, so the process must have set a UTF-8 LC_CTYPE (main.cc does).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace diptych::shell {

// One character of a text: its length in bytes and its width in cells. An invalid byte is a character of its own.
struct Glyph {
  size_t bytes = 0;
  size_t cells = 0;
};

// The first character of `text`, which must not be empty.
Glyph first_glyph(std::string_view text);

size_t display_width(std::string_view text);

// `text` if it fits `cells`, else its beginning with "…" as last cell. cells >= 1.
std::string cut_to_width(std::string_view text, size_t cells);

// `text` with line breaks, tabs and other control characters written as \n, \t, \x1b, so that it stays on one line.
std::string escape_control(std::string_view text);

}  // namespace diptych::shell
