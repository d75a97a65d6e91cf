#include <mutex>

#include "io/csv/csv_file.h"
#include "tablet/builder.h"
#include "tablet/limited_source.h"
#include "tablet/memory_source.h"

namespace diptych {
namespace {

// Knows its columns from the file's beginning; reads the rest into memory when the rows are first asked for.
class CsvSource : public TabletSource, public LimitedSource {
 public:
  CsvSource(std::shared_ptr<File> file, const FileOptions& options, int64_t rows_wanted = INT64_MAX)
      : input_(std::move(file)),
        options_(options),
        rows_wanted_(rows_wanted),
        file_(open_csv_file(input_, options, {})),
        rows_(file_->columns()) {}

  std::shared_ptr<const TabletSource> first_rows(int64_t rows) const override {
    return std::make_shared<CsvSource>(input_, options_, rows);
  }

  const std::vector<ColumnDefinition>& columns() const override { return file_->columns(); }
  size_t tablet_count() const override { return loaded().tablet_count(); }
  int64_t row_count() const override { return loaded().row_count(); }
  int64_t rows_in(size_t tablet) const override { return loaded().rows_in(tablet); }
  ZoneMap zone_map(size_t tablet, size_t column) const override { return loaded().zone_map(tablet, column); }
  const char* read_by_cpu() const override { return "a CSV file"; }
  const Dictionary* common_dictionary(size_t column) const override { return loaded().common_dictionary(column); }
  std::unique_ptr<PinnedTablet> pin(size_t tablet, std::span<const size_t> wanted) const override {
    return loaded().pin(tablet, wanted);
  }
  int64_t encoded_bytes(size_t tablet, size_t column) const override { return loaded().encoded_bytes(tablet, column); }

 private:
  static constexpr int64_t tablet_rows = 65536;

  const MemorySource& loaded() const {
    std::call_once(once_, [this] { load(); });
    return rows_;
  }

  void load() const {
    MemorySource rows(file_->columns());
    TabletBuilder builder(rows.columns(), tablet_rows, rows.new_dictionaries());
    file_->for_each_batch(
        [&](const RowBatch& batch) {
          for (int64_t taken = 0; taken < batch.rows;) {
            taken += builder.append(batch, taken, batch.rows - taken);
            if (builder.full()) rows.add(builder.finish());
          }
        },
        rows_wanted_);
    if (builder.rows() > 0) rows.add(builder.finish());
    rows_ = std::move(rows);
  }

  const std::shared_ptr<File> input_;
  const FileOptions options_;
  const int64_t rows_wanted_;
  const std::unique_ptr<DataFile> file_;
  mutable std::once_flag once_;
  mutable MemorySource rows_;
};

}  // namespace

std::shared_ptr<const TabletSource> open_csv_source(std::shared_ptr<File> file, const FileOptions& options) {
  return std::make_shared<CsvSource>(std::move(file), options);
}

}  // namespace diptych
