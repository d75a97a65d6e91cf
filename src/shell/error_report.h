// The text of an error as the shell prints it:
//
//   ERROR 42703: column "colour" does not exist
//   LINE 1: select colour from car;
//                  ^
//   HINT: Did you mean "color"?
#pragma once

#include <diptych/diptych.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace diptych::shell {

// `sql` is the text the error's position counts in; its first line is line `first_line` of the input. Without a
// position no line is shown. Ends with a line break.
std::string error_report(const diptych_error& error, std::string_view sql, size_t first_line);

}  // namespace diptych::shell
