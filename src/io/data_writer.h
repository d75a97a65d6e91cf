// Writes rows to a data file: COPY (query) TO 'x.csv', COPY t TO 'x.parquet'.
//
//   make_data_writer -> write(tablet) ... write(tablet) -> finish()
//
// The rows go to a file of another name beside the target, which takes the target's name in finish(): without finish()
// there is no half-written file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/file_format.h"
#include "tablet/tablet_source.h"

namespace diptych {

class FileSystem;

// Thread safety: one thread at a time.
class DataWriter {
 public:
  virtual ~DataWriter() = default;
  // Appends the rows of a tablet: views of all columns in order. Errors: 53100, 58030.
  virtual void write(int64_t rows, std::span<const ColumnView> views) = 0;
  // Puts the file in its place. Errors: 53100, 58030.
  virtual void finish() = 0;
};

// Errors: 58P01 no such directory, 58030; 0A000 a column of a type that the format has not.
std::unique_ptr<DataWriter> make_data_writer(FileSystem& files, const std::string& path, const FileOptions& options,
                                             std::span<const ColumnDefinition> columns);

// Writes all rows of a source and finishes; says how many they were.
int64_t write_data_file(FileSystem& files, const std::string& path, const FileOptions& options,
                        const TabletSource& rows);

}  // namespace diptych
