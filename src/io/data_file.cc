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

std::unique_ptr<DataFile> open_data_file(const ReadContext& context, const std::string& path,
                                         const FileOptions& options) {
  return open_data_file(context, path, options, {});
}

std::unique_ptr<DataFile> open_data_file(const ReadContext& context, const std::string& path,
                                         const FileOptions& options, std::span<const ColumnDefinition> fields) {
  std::unique_ptr<File> file = open_input(context, path);
  if (options.format == FileFormat::Parquet) return open_parquet_file(std::move(file), fields);
  return std::make_unique<CsvFile>(std::move(file), options, fields);
}

std::shared_ptr<const TabletSource> open_file_source(const ReadContext& context, const std::string& path,
                                                     const FileOptions& options) {
  std::unique_ptr<File> file = open_input(context, path);
  if (options.format == FileFormat::Parquet) return open_parquet_source(std::move(file));
  return open_csv_source(std::move(file), options);
}

}  // namespace diptych
