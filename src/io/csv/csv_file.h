// CSV files as data files and as sources.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "io/data_file.h"

namespace diptych {

// fields: what COPY wants, or empty for types by inspection.
std::unique_ptr<DataFile> open_csv_file(FileSystem& files, const std::string& path, const FileOptions& options,
                                        std::span<const ColumnDefinition> fields);
std::shared_ptr<const TabletSource> open_csv_source(FileSystem& files, const std::string& path,
                                                    const FileOptions& options);

}  // namespace diptych
