#include <arrow/table.h>
#include <parquet/arrow/schema.h>
#include <parquet/column_reader.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include <algorithm>

#include "io/arrow_types.h"
#include "io/parquet/parquet_file.h"
#include "io/parquet/parquet_pages.h"
#include "io/parquet/parquet_statistics.h"

namespace diptych {
namespace {

// Row groups of up to this many rows are decoded without a look at the headers of their pages first.
constexpr int64_t most_unchecked_rows = int64_t{1} << 22;

// True when every data page of the chunk holds codes of its dictionary.
bool is_all_codes(const parquet::ColumnChunkMetaData& chunk) {
  bool codes = false;
  for (const parquet::PageEncodingStats& pages : chunk.encoding_stats()) {
    if (pages.page_type != parquet::PageType::DATA_PAGE && pages.page_type != parquet::PageType::DATA_PAGE_V2) continue;
    codes =
        pages.encoding == parquet::Encoding::RLE_DICTIONARY || pages.encoding == parquet::Encoding::PLAIN_DICTIONARY;
    if (!codes) return false;
  }
  return codes;
}

}  // namespace

ParquetReader::ParquetReader(std::unique_ptr<File> file) : file_(std::make_shared<ArrowInputFile>(std::move(file))) {
  guard_parquet(*file_, [this] { open(); });
}

void ParquetReader::open() {
  parquet::ReaderProperties properties = parquet::default_reader_properties();
  std::unique_ptr<parquet::ParquetFileReader> reader = parquet::ParquetFileReader::Open(file_, properties);
  metadata_ = reader->metadata();
  int64_t total = 0;
  for (int i = 0; i < metadata_->num_row_groups(); ++i) {
    int64_t rows = metadata_->RowGroup(i)->num_rows();
    if (rows < 0) check(arrow::Status::Invalid("a row group has a negative count of rows"), *file_);
    if (__builtin_add_overflow(total, rows, &total)) break;
    row_group_rows_.push_back(rows);
  }
  if (total != metadata_->num_rows())
    check(arrow::Status::Invalid("the count of rows is not that of the row groups"), *file_);
  dictionary_leaves_.assign(static_cast<size_t>(metadata_->num_columns()), false);
  read_schema();
  dictionary_leaves_ = find_dictionary_leaves();
}

void ParquetReader::read_schema() {
  std::shared_ptr<arrow::Schema> schema;
  check(make_reader()->GetSchema(&schema), *file_);
  for (const std::shared_ptr<arrow::Field>& field : schema->fields()) {
    check_has_no_zone(*field);
    std::optional<Type> type = type_of(*field->type());
    if (!type) {
      throw Error(SqlState::feature_not_supported, "file '" + path() + "': column \"" + field->name() + "\" has type " +
                                                       field->type()->ToString() + ", which Diptych has not");
    }
    columns_.push_back({field->name(), *type});
  }
  // Without nested columns, field i is leaf column i.
  check_invariant(columns_.size() == dictionary_leaves_.size(), "a flat Parquet schema has a leaf per column");
}

void ParquetReader::check_has_no_zone(const arrow::Field& field) const {
  if (field.type()->id() != arrow::Type::TIMESTAMP) return;
  const std::string& zone = static_cast<const arrow::TimestampType&>(*field.type()).timezone();
  if (zone.empty()) return;
  throw Error(SqlState::feature_not_supported,
              "file '" + path() + "': column \"" + field.name() + "\" has timestamps with time zone (" + zone +
                  "), for which Diptych has no type yet",
              -1, "Write the column without a time zone (in Parquet's terms, not adjusted to UTC).");
}

std::vector<bool> ParquetReader::find_dictionary_leaves() const {
  std::vector<bool> leaves(columns_.size());
  for (size_t column = 0; column < columns_.size(); ++column) {
    if (!columns_[column].type.is_string() || metadata_->num_row_groups() == 0) continue;
    leaves[column] = true;
    for (int group = 0; group < metadata_->num_row_groups() && leaves[column]; ++group) {
      leaves[column] = is_all_codes(*metadata_->RowGroup(group)->ColumnChunk(static_cast<int>(column)));
    }
  }
  return leaves;
}

namespace {

// Those of a reader of a few rows read bytes as they are needed.
parquet::ReaderProperties properties_of_reader(bool is_buffered) {
  parquet::ReaderProperties properties = parquet::default_reader_properties();
  properties.set_page_checksum_verification(true);
  if (is_buffered) properties.enable_buffered_stream();
  return properties;
}

}  // namespace

std::unique_ptr<parquet::arrow::FileReader> ParquetReader::make_reader(int64_t batch_rows) const {
  return make_reader(parquet::ParquetFileReader::Open(file_, properties_of_reader(batch_rows < all_rows), metadata_),
                     batch_rows);
}

std::unique_ptr<parquet::arrow::FileReader> ParquetReader::make_reader(
    std::unique_ptr<parquet::ParquetFileReader> reader, int64_t batch_rows) const {
  parquet::ArrowReaderProperties properties(false);
  properties.set_pre_buffer(false);
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  properties.set_batch_size(batch_rows);
  for (size_t i = 0; i < dictionary_leaves_.size(); ++i)
    properties.set_read_dictionary(static_cast<int>(i), dictionary_leaves_[i]);
  return check(parquet::arrow::FileReader::Make(arrow::default_memory_pool(), std::move(reader), properties), *file_);
}

std::string ParquetReader::place_of(size_t column) const {
  return "file '" + path() + "', column \"" + columns_[column].name + "\"";
}

namespace {

// The wanted columns in the file's order, each once.
std::vector<int> leaves_of(std::span<const size_t> wanted) {
  std::vector<int> leaves(wanted.begin(), wanted.end());
  std::sort(leaves.begin(), leaves.end());
  leaves.erase(std::unique(leaves.begin(), leaves.end()), leaves.end());
  return leaves;
}

}  // namespace

std::vector<OwnedBatch> ParquetReader::read(size_t row_group, std::span<const size_t> wanted,
                                            int64_t piece_rows) const {
  std::vector<OwnedBatch> pieces;
  if (wanted.empty()) {
    for (int64_t first = 0; first < rows_in(row_group); first += piece_rows) {
      pieces.push_back({std::min(piece_rows, rows_in(row_group) - first), {}});
    }
    return pieces;
  }
  // Arrow makes room for as many values as the meta data announce.
  if (rows_in(row_group) > most_unchecked_rows)
    for (size_t column : wanted) check_rows(row_group, column);
  const std::vector<int> leaves = leaves_of(wanted);
  guard_parquet(*file_, [&] {
    std::shared_ptr<arrow::Table> table =
        check(make_reader()->ReadRowGroup(static_cast<int>(row_group), leaves), *file_);
    check(table->Validate(), *file_);
    if (table->num_rows() != rows_in(row_group)) fail_rows(row_group, table->num_rows());
    arrow::TableBatchReader batches(*table);
    batches.set_chunksize(piece_rows);
    for (std::shared_ptr<arrow::RecordBatch> batch = check(batches.Next(), *file_); batch != nullptr;
         batch = check(batches.Next(), *file_))
      pieces.push_back(piece_of(*batch, leaves, wanted));
  });
  return pieces;
}

std::vector<OwnedBatch> ParquetReader::read_head(size_t row_group, std::span<const size_t> wanted, int64_t rows) const {
  const std::vector<int> leaves = leaves_of(wanted);
  std::vector<OwnedBatch> pieces;
  guard_parquet(*file_, [&] {
    const std::unique_ptr<parquet::arrow::FileReader> reader = make_reader(rows);
    const auto batches = check(reader->GetRecordBatchReader({static_cast<int>(row_group)}, leaves), *file_);
    int64_t read = 0;
    while (read < rows) {
      std::shared_ptr<arrow::RecordBatch> batch = check(batches->Next(), *file_);
      if (batch == nullptr) fail_rows(row_group, read);
      check(batch->Validate(), *file_);
      if (batch->num_rows() > rows - read) batch = batch->Slice(0, rows - read);
      read += batch->num_rows();
      pieces.push_back(piece_of(*batch, leaves, wanted));
    }
  });
  return pieces;
}

void ParquetReader::sample_rows(size_t row_group, size_t column, std::span<const int64_t> rows,
                                SampledColumn& sample) const {
  constexpr int64_t batch_rows = 8192;
  const auto file = std::make_shared<ArrowInputFile>(file_->shared_file());
  guard_parquet(*file, [&] {
    const parquet::ReaderProperties properties = properties_of_reader(true);
    KeptPages pages(rows);
    const std::unique_ptr<parquet::arrow::FileReader> reader = make_reader(
        open_kept_pages(parquet::ParquetFileReader::Open(file, properties, metadata_), properties, pages), batch_rows);
    const auto batches =
        check(reader->GetRecordBatchReader({static_cast<int>(row_group)}, {static_cast<int>(column)}), *file);
    int64_t first = 0;  // kept row of the batch
    for (size_t taken = 0; taken < rows.size();) {
      const std::shared_ptr<arrow::RecordBatch> batch = check(batches->Next(), *file);
      if (batch == nullptr) fail_rows(row_group, first);
      check(batch->Validate(), *file);
      const std::vector<int64_t>& kept = pages.kept_rows();
      const int64_t end = first + batch->num_rows();
      if (taken < kept.size() && kept[taken] < end) {
        const OwnedColumn values = column_of(batch->column(0), place_of(column));
        for (; taken < kept.size() && kept[taken] < end; ++taken) sample.append(values.view, kept[taken] - first);
      }
      first = end;
    }
  });
}

ParquetReader::CountedValues ParquetReader::counted_values(size_t column) const {
  CountedValues counted;
  double sum = 0;
  bool are_all_counted = true;
  guard_parquet(*file_, [&] {
    for (int group = 0; group < metadata_->num_row_groups(); ++group) {
      const auto chunk = metadata_->RowGroup(group)->ColumnChunk(static_cast<int>(column));
      const auto statistics = chunk->is_stats_set() ? chunk->statistics() : nullptr;
      const bool is_counted = statistics != nullptr && statistics->HasDistinctCount();
      are_all_counted = are_all_counted && is_counted;
      if (!is_counted) continue;
      const auto values = static_cast<double>(statistics->distinct_count());
      counted.least = std::max(counted.least, values);
      sum += values;
    }
  });
  if (are_all_counted) counted.most = sum;
  return counted;
}

OwnedBatch ParquetReader::piece_of(const arrow::RecordBatch& batch, std::span<const int> leaves,
                                   std::span<const size_t> wanted) const {
  OwnedBatch piece;
  piece.rows = batch.num_rows();
  for (size_t column : wanted) {
    const auto at = std::lower_bound(leaves.begin(), leaves.end(), static_cast<int>(column)) - leaves.begin();
    piece.columns.push_back(column_of(batch.column(static_cast<int>(at)), place_of(column)));
  }
  return piece;
}

void ParquetReader::fail_rows(size_t row_group, int64_t found) const {
  throw Error(SqlState::data_corrupted, "file '" + path() + "', row group " + std::to_string(row_group) +
                                            ": the meta data say " + std::to_string(rows_in(row_group)) +
                                            " rows, and there are " + std::to_string(found));
}

void ParquetReader::check_rows(size_t row_group, size_t column) const {
  int64_t rows = 0;
  guard_parquet(*file_, [&] {
    parquet::ReaderProperties properties = parquet::default_reader_properties();
    properties.enable_buffered_stream();  // the pages themselves are passed over
    auto reader = parquet::ParquetFileReader::Open(file_, properties, metadata_);
    auto pages = reader->RowGroup(static_cast<int>(row_group))->GetColumnPageReader(static_cast<int>(column));
    pages->set_data_page_filter([&](const parquet::DataPageStats& page) {
      rows += page.num_values;
      return true;
    });
    while (pages->NextPage() != nullptr) {
    }
  });
  if (rows != rows_in(row_group)) fail_rows(row_group, rows);
}

size_t ParquetReader::smallest_column(size_t row_group) const {
  size_t smallest = 0;
  for (size_t column = 1; column < columns_.size(); ++column)
    if (stored_bytes(row_group, column) < stored_bytes(row_group, smallest)) smallest = column;
  return smallest;
}

ZoneMap ParquetReader::zone_map(size_t row_group, size_t column) const {
  ZoneMap zone;
  guard_parquet(*file_, [&] {
    auto chunk = metadata_->RowGroup(static_cast<int>(row_group))->ColumnChunk(static_cast<int>(column));
    zone = zone_map_of(*chunk, columns_[column].type);
    const bool is_required = metadata_->schema()->Column(static_cast<int>(column))->max_definition_level() == 0;
    if (is_required) zone.null_count = 0;
  });
  return zone;
}

int64_t ParquetReader::stored_bytes(size_t row_group, size_t column) const {
  int64_t bytes = 0;
  guard_parquet(*file_, [&] {
    bytes = metadata_->RowGroup(static_cast<int>(row_group))
                ->ColumnChunk(static_cast<int>(column))
                ->total_compressed_size();
  });
  return bytes;
}

int64_t ParquetReader::decompressed_bytes(size_t row_group, size_t column) const {
  int64_t bytes = 0;
  guard_parquet(*file_, [&] {
    bytes = metadata_->RowGroup(static_cast<int>(row_group))
                ->ColumnChunk(static_cast<int>(column))
                ->total_uncompressed_size();
  });
  return bytes;
}

}  // namespace diptych
