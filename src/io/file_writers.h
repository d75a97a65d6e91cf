// The writers of each format; data_writer.h chooses.
#pragma once

#include "io/data_writer.h"

namespace diptych {

std::unique_ptr<DataWriter> make_csv_writer(FileSystem& files, const std::string& path, const FileOptions& options,
                                            std::span<const ColumnDefinition> columns);
// Char columns are written as they are kept, without blanks at the end. Errors of write(): also 22008 an infinite date
// or timestamp, which Parquet has not.
std::unique_ptr<DataWriter> make_parquet_writer(FileSystem& files, const std::string& path,
                                                std::span<const ColumnDefinition> columns);

}  // namespace diptych
