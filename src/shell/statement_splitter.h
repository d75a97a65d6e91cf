// Where a statement ends in typed or read text: at the first ';' that is not inside a quoted text, a quoted name, a
// dollar-quoted text or a comment. PostgreSQL's lexical rules.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace diptych::shell {

// The position after the ';' that ends the first statement of `sql`; nothing while the statement is incomplete.
std::optional<size_t> statement_end(std::string_view sql);

// How many bytes of white space and finished comments `sql` begins with.
size_t leading_blank(std::string_view sql);

// True when `sql` holds nothing but white space, comments and ';'.
bool is_blank(std::string_view sql);

// The first word of `sql` after blanks, in lower case: "select".
std::string first_word(std::string_view sql);

}  // namespace diptych::shell
