// Between columns and single values: cells of a result, rows of VALUES. For few values; columns are read through their
// views.
#pragma once

#include <memory>
#include <vector>

#include "base/value.h"
#include "tablet/memory_source.h"

namespace diptych {

// Row `row` of the column as a value of the given type, whose physical form is the view's.
Value value_at(const ColumnView& view, const Type& type, int64_t row);

// A value that is not NULL in the form that a register or plain column of the physical type holds it. Not for text.
std::vector<std::byte> register_form(const Value& value, PhysicalType physical);

// A source with the given rows: cells row by row, columns.size() each, of their columns' types or NULL. Strings of more
// than batch_bytes a column go to several tablets. Errors: 54000 a string of 1 GiB or more.
std::shared_ptr<MemorySource> make_value_source(std::vector<ColumnDefinition> columns, const std::vector<Value>& cells,
                                                int64_t rows, int64_t batch_bytes = int64_t{64} << 20);

}  // namespace diptych
