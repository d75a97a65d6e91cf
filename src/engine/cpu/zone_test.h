// Whether a tablet can hold a row that fulfils a condition, by the least and greatest value of the column.
#pragma once

#include "program/program.h"

namespace diptych::cpu {

// False only when (column comparison bound) is true for no row of the tablet.
bool may_hold(const ZoneCondition& condition, const ZoneMap& zone);
// Whether the tablet of the source can hold a row that fulfils all conditions of the cursor.
bool is_needed(const CursorInfo& cursor, const TabletSource& source, size_t tablet);

}  // namespace diptych::cpu
