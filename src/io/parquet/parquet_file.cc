#include "io/parquet/parquet_file.h"

#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <numeric>

#include "io/column_cast.h"

namespace diptych {
namespace {

// Rows of a batch: its columns stay in the second-level cache between decoding and encoding.
constexpr int64_t batch_rows = 16384;

class ParquetFile : public DataFile {
 public:
  ParquetFile(std::unique_ptr<File> file, std::span<const ColumnDefinition> fields) : reader_(std::move(file)) {
    columns_ = fields.empty() ? reader_.columns() : std::vector(fields.begin(), fields.end());
    if (columns_.size() != reader_.columns().size()) {
      throw Error(SqlState::bad_copy_file_format, "file '" + reader_.path() + "' has " +
                                                      std::to_string(reader_.columns().size()) + " columns, where " +
                                                      std::to_string(columns_.size()) + " are wanted");
    }
    for (size_t i = 0; i < columns_.size(); ++i) check_cast(i);
  }

  const std::vector<ColumnDefinition>& columns() const override { return columns_; }
  std::optional<int64_t> row_count() const override { return reader_.metadata().num_rows(); }
  double progress() const override {
    return reader_.row_group_count() == 0
               ? 1
               : static_cast<double>(groups_done_) / static_cast<double>(reader_.row_group_count());
  }

  void for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) override;

 private:
  void check_cast(size_t column) const {
    const Type& from = reader_.columns()[column].type;
    const Type& to = columns_[column].type;
    if (can_cast_column(from, to)) return;
    throw Error(SqlState::datatype_mismatch, reader_.place_of(column) + " is of type " + from.name() +
                                                 ", which is not assigned to " + columns_[column].name + " of type " +
                                                 to.name());
  }

  std::vector<OwnedBatch> read(size_t group, std::span<const size_t> wanted) const;

  ParquetReader reader_;
  std::vector<ColumnDefinition> columns_;
  std::atomic<size_t> groups_done_{0};
};

std::vector<OwnedBatch> ParquetFile::read(size_t group, std::span<const size_t> wanted) const {
  std::vector<OwnedBatch> batches = reader_.read(group, wanted, batch_rows);
  for (OwnedBatch& batch : batches) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      size_t column = wanted[i];
      cast_column(batch.columns[i], batch.rows, reader_.columns()[column].type, columns_[column].type,
                  reader_.place_of(column));
    }
  }
  return batches;
}

void ParquetFile::for_each_batch(std::span<const size_t> wanted, const BatchSink& sink) {
  size_t next = 0;
  groups_done_ = 0;
  auto take = [&](tbb::flow_control& control) -> size_t {
    if (next == reader_.row_group_count()) {
      control.stop();
      return next;
    }
    return next++;
  };
  auto decode = [&](size_t group) { return read(group, wanted); };
  auto pass_on = [&](const std::vector<OwnedBatch>& batches) {
    for (const OwnedBatch& batch : batches) {
      std::vector<BatchColumn> views = batch.views();
      sink({batch.rows, views});
    }
    ++groups_done_;
  };
  // A row group more than there are threads, so that decoding goes on while the sink is at work.
  size_t in_flight = static_cast<size_t>(tbb::this_task_arena::max_concurrency()) + 1;
  tbb::parallel_pipeline(
      in_flight, tbb::make_filter<void, size_t>(tbb::filter_mode::serial_in_order, take) &
                     tbb::make_filter<size_t, std::vector<OwnedBatch>>(tbb::filter_mode::parallel, decode) &
                     tbb::make_filter<std::vector<OwnedBatch>, void>(tbb::filter_mode::serial_in_order, pass_on));
}

}  // namespace

std::unique_ptr<DataFile> open_parquet_file(std::unique_ptr<File> file, std::span<const ColumnDefinition> fields) {
  return std::make_unique<ParquetFile>(std::move(file), fields);
}

}  // namespace diptych
