// Bounds of a Parquet column chunk as a zone map.
#pragma once

#include <parquet/metadata.h>

#include "base/type.h"
#include "tablet/column_view.h"

namespace diptych {

// type: the column's SQL type. No bounds where the statistics are missing or may not be exact: strings, floats (NaN is
// left out of them), booleans.
ZoneMap zone_map_of(const parquet::ColumnChunkMetaData& chunk, const Type& type);

}  // namespace diptych
