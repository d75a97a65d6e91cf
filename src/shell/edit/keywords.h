// SQL's words for the line editor (keywords.def), in upper case and sorted.
#pragma once

#include <span>
#include <string_view>

namespace diptych::shell {

std::span<const std::string_view> keywords();

// Whether `word`, in any case, can't be a name unless it is quoted.
bool is_reserved(std::string_view word);

}  // namespace diptych::shell
