// Cells of columns as PostgreSQL prints them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/type.h"
#include "tablet/column_view.h"

namespace diptych {

// Appends the text of a row that is not null. type: the column's, whose physical form is the view's; char(n) is padded.
void append_cell(std::string& out, const ColumnView& view, const Type& type, int64_t row);

// The code of a row, of FrameOfReference and Dictionary columns.
uint64_t code_at(const ColumnView& view, int64_t row);
// The value of a row of integers: FrameOfReference, or Plain of an integer type.
int128_t integer_at(const ColumnView& view, int64_t row);
// The string of a row that is not null.
std::string_view string_at(const ColumnView& view, int64_t row);

}  // namespace diptych
