// CSV files as data files and as sources.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/file_system.h"
#include "io/data_file.h"

namespace diptych {

// fields: what COPY wants, whose meaning is PostgreSQL's; or empty for types by inspection.
std::unique_ptr<DataFile> open_csv_file(std::shared_ptr<File> file, const FileOptions& options,
                                        std::span<const ColumnDefinition> fields);
std::shared_ptr<const TabletSource> open_csv_source(std::shared_ptr<File> file, const FileOptions& options);

}  // namespace diptych
