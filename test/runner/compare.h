// Does a result meet what a script expects?
//
//   rows of texts -> rendered values (by dialect and type letter) -> sorted -> hashed or compared
#pragma once

#include <string>
#include <vector>

#include "engine.h"
#include "script.h"

namespace slt {

// How strictly texts are compared.
//   Own       the texts are equal; a column of letter R holds floats and may differ by 1e-9 of the value
//   Original  I prints an integer, R prints %.3f; unprintable characters are @
//   Duckdb    numbers are compared by value, booleans as t/true and f/false; rows without ORDER BY in any order
enum class Dialect { Own, Original, Duckdb };

// The text to show or hash for one value.
std::string render(const std::optional<std::string>& value, diptych_type type, char letter, Dialect dialect);

// A result rendered and sorted as a record asks for.
struct Rendered {
  std::vector<std::vector<std::string>> rows;
  size_t values() const { return rows.empty() ? 0 : rows.size() * rows[0].size(); }
  // Each value on a line of its own.
  std::string text() const;
};
Rendered render_result(const Outcome& outcome, const Record& record, Dialect dialect);

// Empty when the result is as expected, else what differs.
std::string difference(const Rendered& result, const Record& record, Dialect dialect);

}  // namespace slt
