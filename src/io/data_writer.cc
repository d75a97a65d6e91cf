#include "io/data_writer.h"

#include <numeric>
#include <vector>

#include "io/file_writers.h"

namespace diptych {

std::unique_ptr<DataWriter> make_data_writer(FileSystem& files, const std::string& path, const FileOptions& options,
                                             std::span<const ColumnDefinition> columns) {
  if (options.format == FileFormat::Parquet) return make_parquet_writer(files, path, columns);
  return make_csv_writer(files, path, options, columns);
}

int64_t write_data_file(FileSystem& files, const std::string& path, const FileOptions& options,
                        const TabletSource& rows) {
  std::unique_ptr<DataWriter> writer = make_data_writer(files, path, options, rows.columns());
  std::vector<size_t> all(rows.columns().size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (size_t tablet = 0; tablet < rows.tablet_count(); ++tablet) {
    std::unique_ptr<PinnedTablet> pinned = rows.pin(tablet, all);
    writer->write(pinned->rows, pinned->views);
  }
  writer->finish();
  return rows.row_count();
}

}  // namespace diptych
