// The statistics of a table as bytes of a blob. docs/format.md has the fields.
#pragma once

#include <memory>

#include "storage/catalog.h"
#include "storage/file/blob_codec.h"
#include "tablet/statistics/table_statistics.h"

namespace diptych {

void write_statistics(BlobWriter& writer, const TableStatistics& statistics);
// All bytes of the reader. Errors: XX001 when they are none of such a table.
std::shared_ptr<const TableStatistics> read_statistics(BlobReader& reader, const TableDefinition& table);

}  // namespace diptych
