// Turns a column of a file into a column of a table where SQL would on assignment: numbers among each other with
// rounding and range checks, date and timestamp, text to varchar(n) and char(n).
#pragma once

#include <cstdint>
#include <string>

#include "base/type.h"
#include "io/owned_batch.h"

namespace diptych {

// Whether cast_column knows the way.
bool can_cast_column(const Type& from, const Type& to);

// Replaces the column's values. where: the file and column, for messages. Errors: 22003 a number out of range, 22008 a
// date out of range, 22001 a string too long.
void cast_column(OwnedColumn& column, int64_t rows, const Type& from, const Type& to, const std::string& where);

// The string as it is kept in a varchar(n) or char(n): char without trailing blanks; blanks too many are dropped. False
// when it is too long all the same.
bool fit_string(std::string_view& text, const Type& type);

}  // namespace diptych
