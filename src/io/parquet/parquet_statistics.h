// Bounds of a Parquet column chunk as a zone map.
#pragma once

#include <parquet/metadata.h>

#include "base/type.h"
#include "tablet/column_view.h"

namespace diptych {

// Counts of NULLs in the statistics are not taken: what is proven by them may need no look at the column at all, so
// that nobody would see that they are false.
//
// type: the column's SQL type. No bounds where the statistics are missing or may not be exact: strings, floats (NaN is
// left out of them), booleans.
ZoneMap zone_map_of(const parquet::ColumnChunkMetaData& chunk, const Type& type);

}  // namespace diptych
