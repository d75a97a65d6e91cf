// Cells of columns as PostgreSQL prints them.
#pragma once

#include <cstdint>
#include <string>

#include "base/type.h"
#include "tablet/cells.h"

namespace diptych {

// Appends the text of a row that is not null. type: the column's, whose physical form is the view's; char(n) is padded.
void append_cell(std::string& out, const ColumnView& view, const Type& type, int64_t row);

}  // namespace diptych
