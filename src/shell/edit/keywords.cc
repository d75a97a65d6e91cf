#include "shell/edit/keywords.h"

#include <strings.h>

#include <algorithm>

namespace diptych::shell {

namespace {

constexpr std::string_view all_words[] = {
#define KEYWORD(word) #word,
#define RESERVED(word) #word,
#include "shell/edit/keywords.def"
#undef KEYWORD
#undef RESERVED
};

constexpr std::string_view reserved_words[] = {
#define KEYWORD(word)
#define RESERVED(word) #word,
#include "shell/edit/keywords.def"
#undef KEYWORD
#undef RESERVED
};

}  // namespace

std::span<const std::string_view> keywords() { return all_words; }

bool is_reserved(std::string_view word) {
  return std::any_of(std::begin(reserved_words), std::end(reserved_words), [&](std::string_view reserved) {
    return reserved.size() == word.size() && ::strncasecmp(reserved.data(), word.data(), word.size()) == 0;
  });
}

}  // namespace diptych::shell
