#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <cstring>

#include "io/arrow_file.h"
#include "io/arrow_types.h"
#include "io/cell_text.h"
#include "io/file_writers.h"
#include "io/replaced_file.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

// Row groups of the size of two default tablets: large enough to read in long stretches, small enough for every core to
// have some.
constexpr int64_t row_group_rows = 131072;

class ParquetWriter : public DataWriter {
 public:
  ParquetWriter(FileSystem& files, const std::string& path, std::span<const ColumnDefinition> columns);
  ~ParquetWriter() override;

  void write(int64_t rows, std::span<const ColumnView> views) override;
  void finish() override;

 private:
  std::shared_ptr<arrow::Buffer> allocate(int64_t bytes);
  std::shared_ptr<arrow::Array> array_of(const ColumnView& view, size_t column, int64_t rows);
  std::shared_ptr<arrow::Buffer> values_of(const ColumnView& view, size_t column, int64_t rows);
  std::shared_ptr<arrow::Buffer> bits_of(const ColumnView& view, int64_t rows);
  std::shared_ptr<arrow::Array> strings_of(const ColumnView& view, int64_t rows,
                                           std::shared_ptr<arrow::Buffer> validity);
  template <typename T>
  std::shared_ptr<arrow::Buffer> integers_of(const ColumnView& view, int64_t rows, int128_t shift);
  void check_finite(const ColumnView& view, size_t column, int64_t rows) const;

  std::vector<ColumnDefinition> columns_;
  ReplacedFile file_;
  std::shared_ptr<ArrowOutputFile> stream_;
  std::shared_ptr<arrow::Schema> schema_;
  std::unique_ptr<parquet::arrow::FileWriter> writer_;
};

ParquetWriter::ParquetWriter(FileSystem& files, const std::string& path, std::span<const ColumnDefinition> columns)
    : columns_(columns.begin(), columns.end()),
      file_(files, path),
      stream_(std::make_shared<ArrowOutputFile>(file_.file())) {
  arrow::FieldVector fields;
  for (const ColumnDefinition& column : columns)
    fields.push_back(arrow::field(column.name, arrow_type_of(column.type)));
  schema_ = arrow::schema(fields);
  parquet::WriterProperties::Builder properties;
  properties.compression(parquet::Compression::SNAPPY)
      ->max_row_group_length(row_group_rows)
      ->enable_store_decimal_as_integer();
  auto writer = parquet::arrow::FileWriter::Open(*schema_, arrow::default_memory_pool(), stream_, properties.build());
  check(writer.status(), *stream_, path);
  writer_ = std::move(writer).ValueUnsafe();
}

// Arrow writes the footer when its writer ends, into a file that is about to be removed.
ParquetWriter::~ParquetWriter() = default;

void ParquetWriter::write(int64_t rows, std::span<const ColumnView> views) {
  arrow::ArrayVector arrays;
  for (size_t i = 0; i < columns_.size(); ++i) arrays.push_back(array_of(views[i], i, rows));
  check(writer_->WriteRecordBatch(*arrow::RecordBatch::Make(schema_, rows, arrays)), *stream_, file_.path());
}

void ParquetWriter::finish() {
  check(writer_->Close(), *stream_, file_.path());
  file_.commit();
}

std::shared_ptr<arrow::Buffer> ParquetWriter::allocate(int64_t bytes) {
  auto buffer = arrow::AllocateBuffer(bytes);
  if (!buffer.ok()) throw Error(SqlState::out_of_memory, "no memory to write '" + file_.path() + "'");
  return std::move(buffer).ValueUnsafe();
}

// Values of null rows are whatever the shift makes of them: they are not written.
template <typename T>
std::shared_ptr<arrow::Buffer> ParquetWriter::integers_of(const ColumnView& view, int64_t rows, int128_t shift) {
  std::shared_ptr<arrow::Buffer> buffer = allocate(rows * static_cast<int64_t>(sizeof(T)));
  T* values = reinterpret_cast<T*>(buffer->mutable_data());
  for (int64_t i = 0; i < rows; ++i) values[i] = static_cast<T>(integer_at(view, i) + shift);
  return buffer;
}

std::shared_ptr<arrow::Buffer> ParquetWriter::bits_of(const ColumnView& view, int64_t rows) {
  std::shared_ptr<arrow::Buffer> buffer = allocate(validity_bytes(rows));
  uint8_t* bits = buffer->mutable_data();
  std::memset(bits, 0, static_cast<size_t>(buffer->size()));
  for (int64_t i = 0; i < rows; ++i) {
    if (integer_at(view, i) != 0) bits[i >> 3] |= static_cast<uint8_t>(1U << (i & 7));
  }
  return buffer;
}

void ParquetWriter::check_finite(const ColumnView& view, size_t column, int64_t rows) const {
  bool date = columns_[column].type.id == TypeId::Date;
  int64_t low = date ? INT32_MIN : INT64_MIN, high = date ? INT32_MAX : INT64_MAX - microseconds_from_1970_to_2000;
  for (int64_t i = 0; i < rows; ++i) {
    if (!is_valid(view.validity, i) || (integer_at(view, i) != low && integer_at(view, i) < high)) continue;
    throw Error(SqlState::datetime_field_overflow,
                "column \"" + columns_[column].name + "\": infinity can't be written to Parquet");
  }
}

std::shared_ptr<arrow::Buffer> ParquetWriter::values_of(const ColumnView& view, size_t column, int64_t rows) {
  switch (columns_[column].type.id) {
    case TypeId::Boolean: return bits_of(view, rows);
    case TypeId::SmallInt: return integers_of<int16_t>(view, rows, 0);
    case TypeId::Null:
    case TypeId::Integer: return integers_of<int32_t>(view, rows, 0);
    case TypeId::BigInt: return integers_of<int64_t>(view, rows, 0);
    case TypeId::Numeric: return integers_of<int128_t>(view, rows, 0);
    case TypeId::Date:
      check_finite(view, column, rows);
      return integers_of<int32_t>(view, rows, days_from_1970_to_2000);
    case TypeId::Timestamp:
      check_finite(view, column, rows);
      return integers_of<int64_t>(view, rows, microseconds_from_1970_to_2000);
    default: {
      std::shared_ptr<arrow::Buffer> buffer = allocate(rows * width_bytes(view.physical));
      if (rows > 0) std::memcpy(buffer->mutable_data(), view.data, static_cast<size_t>(buffer->size()));
      return buffer;
    }
  }
}

std::shared_ptr<arrow::Array> ParquetWriter::strings_of(const ColumnView& view, int64_t rows,
                                                        std::shared_ptr<arrow::Buffer> validity) {
  std::shared_ptr<arrow::Buffer> offsets = allocate((rows + 1) * static_cast<int64_t>(sizeof(int32_t)));
  int32_t* ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
  std::string bytes;
  for (int64_t i = 0; i < rows; ++i) {
    ends[i] = static_cast<int32_t>(bytes.size());
    if (is_valid(view.validity, i)) bytes += string_at(view, i);
    if (bytes.size() > INT32_MAX)
      throw Error(SqlState::program_limit_exceeded, "the strings of a tablet are longer than 2 GiB");
  }
  ends[rows] = static_cast<int32_t>(bytes.size());
  return std::make_shared<arrow::StringArray>(rows, offsets, arrow::Buffer::FromString(std::move(bytes)),
                                              std::move(validity));
}

std::shared_ptr<arrow::Array> ParquetWriter::array_of(const ColumnView& view, size_t column, int64_t rows) {
  std::shared_ptr<arrow::Buffer> validity;
  if (view.validity != nullptr) {
    validity = allocate(validity_bytes(rows));
    if (rows > 0) std::memcpy(validity->mutable_data(), view.validity, static_cast<size_t>(validity->size()));
  }
  if (columns_[column].type.is_string()) return strings_of(view, rows, std::move(validity));
  std::shared_ptr<arrow::Buffer> values = values_of(view, column, rows);
  return arrow::MakeArray(
      arrow::ArrayData::Make(schema_->field(static_cast<int>(column))->type(), rows, {validity, values}));
}

}  // namespace

std::unique_ptr<DataWriter> make_parquet_writer(FileSystem& files, const std::string& path,
                                                std::span<const ColumnDefinition> columns) {
  return std::make_unique<ParquetWriter>(files, path, columns);
}

}  // namespace diptych
