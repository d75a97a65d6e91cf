// Texts and names as SQL writes them.
#pragma once

#include <string>
#include <string_view>

namespace diptych {

// In quotes, those inside doubled: 'it''s', "a ""name""".
inline std::string in_quotes(std::string_view text, char quote) {
  std::string result(1, quote);
  for (const char c : text) result.append(c == quote ? 2 : 1, c);
  return result + quote;
}

}  // namespace diptych
