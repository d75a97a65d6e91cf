#include "io/data_file.h"

#include <numeric>

#include "io/csv/csv_file.h"
#include "io/parquet/parquet_file.h"

namespace diptych {

void DataFile::for_each_batch(const BatchSink& sink) {
  std::vector<size_t> all(columns().size());
  std::iota(all.begin(), all.end(), size_t{0});
  for_each_batch(all, sink);
}

std::unique_ptr<DataFile> open_data_file(FileSystem& files, const std::string& path, const FileOptions& options) {
  return open_data_file(files, path, options, {});
}

std::unique_ptr<DataFile> open_data_file(FileSystem& files, const std::string& path, const FileOptions& options,
                                         std::span<const ColumnDefinition> fields) {
  if (options.format == FileFormat::Parquet) return open_parquet_file(files, path, fields);
  return open_csv_file(files, path, options, fields);
}

std::shared_ptr<const TabletSource> open_file_source(FileSystem& files, const std::string& path,
                                                     const FileOptions& options) {
  if (options.format == FileFormat::Parquet) return open_parquet_source(files, path);
  return open_csv_source(files, path, options);
}

}  // namespace diptych
