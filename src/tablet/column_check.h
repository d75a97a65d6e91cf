// What a column's record says of its values, compared with the values.
//
// Bounds and counts of NULLs become proofs: they drop overflow checks, narrow registers and size arrays of groups;
// codes index dictionaries. So they are checked once, where a column's bytes enter memory, and everything behind that,
// on the CPU and on devices, relies on them. Codes are compared as codes: one pass that finds the greatest.
#pragma once

#include "tablet/layout.h"

namespace diptych {

// Errors: XX001 when values lie outside the bounds, codes outside the dictionary, or NULLs are of another number.
void check_values(const ColumnMeta& meta, int64_t rows, const ColumnView& view);

}  // namespace diptych
