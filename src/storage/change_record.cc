#include "storage/change_record.h"

#include <cstring>
#include <memory>
#include <vector>

#include "base/error.h"
#include "storage/table_view.h"
#include "tablet/cells.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

enum class ChangeKind : uint8_t { Append = 'a', Erase = 'e', Truncate = 't' };
// How strings are given: each with its length. Other columns have values of their physical type.
constexpr uint8_t no_nulls = 0, with_nulls = 1;
// A string of a batch; NULL has none.
std::string_view text_of(const BatchColumn& column, int64_t row) {
  return column.is_null(row) ? std::string_view() : string_at(column, row);
}

std::span<const std::byte> bytes_at(const void* data, int64_t bytes) {
  return {static_cast<const std::byte*>(data), static_cast<size_t>(bytes)};
}

void write_column(BlobWriter& writer, const BatchColumn& column, int64_t rows) {
  writer.byte(static_cast<uint8_t>(column.physical));
  writer.byte(column.validity == nullptr ? no_nulls : with_nulls);
  if (column.validity != nullptr) {
    std::vector<uint8_t> bits(static_cast<size_t>(validity_bytes(rows)));
    copy_bits(bits.data(), 0, column.validity, column.validity_offset, rows);
    writer.raw(bytes_at(bits.data(), validity_bytes(rows)));
  }
  if (column.physical != PhysicalType::Text)
    return writer.raw(bytes_at(column.values, rows * width_bytes(column.physical)));
  for (int64_t row = 0; row < rows; ++row) writer.text(text_of(column, row));
}

// A column of a record, back as a batch has it.
class ReadColumn {
 public:
  ReadColumn(BlobReader& reader, PhysicalType physical, int64_t rows) {
    column_.physical = physical;
    if (reader.byte() != static_cast<uint8_t>(physical)) reader.fail("a column of another type");
    if (reader.byte_up_to(with_nulls) == with_nulls) {
      const auto bits = reader.raw(static_cast<size_t>(validity_bytes(rows)));
      validity_.assign(bits.begin(), bits.end());
      column_.validity = reinterpret_cast<const uint8_t*>(validity_.data());
    }
    if (physical == PhysicalType::Text)
      read_texts(reader, rows);
    else
      read_values(reader, rows);
  }
  const BatchColumn& column() const { return column_; }

 private:
  void read_values(BlobReader& reader, int64_t rows) {
    const auto bytes = static_cast<size_t>(rows * width_bytes(column_.physical));
    const auto values = reader.raw(bytes);
    // As much as the widest value wants to be aligned.
    values_ = std::make_unique<int128_t[]>(bytes / sizeof(int128_t) + 1);
    std::memcpy(values_.get(), values.data(), bytes);
    column_.values = values_.get();
    if (column_.physical != PhysicalType::Bool) return;
    for (const std::byte value : values)
      if (value > std::byte{1}) reader.fail("a boolean that is none");
  }

  void read_texts(BlobReader& reader, int64_t rows) {
    constexpr size_t most_bytes = size_t{1} << 31;
    offsets_.reserve(static_cast<size_t>(rows) + 1);
    offsets_.push_back(0);
    for (int64_t row = 0; row < rows; ++row) {
      const auto text = reader.raw(reader.count());
      texts_.append(reinterpret_cast<const char*>(text.data()), text.size());
      if (texts_.size() >= most_bytes) reader.fail("too many bytes of strings");
      offsets_.push_back(static_cast<uint32_t>(texts_.size()));
    }
    column_.offsets = offsets_.data();
    column_.bytes = texts_.data();
  }

  BatchColumn column_;
  std::vector<std::byte> validity_;
  std::unique_ptr<int128_t[]> values_;
  std::vector<uint32_t> offsets_;
  std::string texts_;
};

void append_again(BlobReader& reader, const std::string& table, WriteTransaction& transaction,
                  const TableDefinition& definition) {
  const uint64_t rows = reader.varint();
  // Each takes a byte of its first column.
  if (rows >= uint64_t{1} << 40 || reader.count() != definition.columns.size()) reader.fail("rows of another table");
  std::vector<std::unique_ptr<ReadColumn>> columns;
  std::vector<BatchColumn> views;
  for (const TableColumn& column : definition.columns) {
    columns.push_back(std::make_unique<ReadColumn>(reader, column.type.physical(), static_cast<int64_t>(rows)));
    views.push_back(columns.back()->column());
  }
  transaction.append(table, {static_cast<int64_t>(rows), views});
}

void erase_again(BlobReader& reader, const std::string& table, WriteTransaction& transaction) {
  const auto now = transaction.preview()->find_table(table);
  const TabletDirectory& directory = static_cast<const TableView&>(*now).state().directory;
  const auto all = static_cast<uint64_t>(directory.live_rows());
  std::vector<int64_t> rows(reader.count());
  uint64_t next = 0;
  for (int64_t& row : rows) {
    const uint64_t distance = reader.varint();
    if (distance >= all || next + distance >= all) reader.fail("a row that the table does not have");
    row = static_cast<int64_t>(next + distance);
    next += distance + 1;
  }
  transaction.erase(table, directory.positions_of(rows));
}

}  // namespace

void ChangeRecord::append(std::string_view table, const RowBatch& batch) {
  writer_.byte(static_cast<uint8_t>(ChangeKind::Append));
  writer_.text(table);
  writer_.varint(static_cast<uint64_t>(batch.rows));
  writer_.count(batch.columns.size());
  for (const BatchColumn& column : batch.columns) write_column(writer_, column, batch.rows);
}

int64_t ChangeRecord::bytes_of(const RowBatch& batch) {
  int64_t bytes = 0;
  for (const BatchColumn& column : batch.columns) {
    if (column.physical != PhysicalType::Text)
      bytes += batch.rows * width_bytes(column.physical);
    else
      for (int64_t row = 0; row < batch.rows; ++row) bytes += 1 + static_cast<int64_t>(text_of(column, row).size());
  }
  return bytes;
}

void ChangeRecord::erase(std::string_view table, std::span<const int64_t> rows) {
  writer_.byte(static_cast<uint8_t>(ChangeKind::Erase));
  writer_.text(table);
  writer_.count(rows.size());
  int64_t next = 0;
  for (const int64_t row : rows) {
    writer_.varint(static_cast<uint64_t>(row - next));
    next = row + 1;
  }
}

void ChangeRecord::truncate(std::string_view table) {
  writer_.byte(static_cast<uint8_t>(ChangeKind::Truncate));
  writer_.text(table);
}

void do_again(std::span<const std::byte> record, const std::string& what, WriteTransaction& transaction,
              const CatalogSnapshot& catalog) {
  BlobReader reader(record, what);
  while (!reader.is_at_end()) {
    const auto kind = static_cast<ChangeKind>(reader.byte());
    const std::string table = reader.text();
    const auto known = catalog.find_table(table);
    if (known == nullptr) reader.fail("a table that is not there");
    switch (kind) {
      case ChangeKind::Append: append_again(reader, table, transaction, known->definition()); continue;
      case ChangeKind::Erase: erase_again(reader, table, transaction); continue;
      case ChangeKind::Truncate: transaction.truncate(table); continue;
    }
    reader.fail("an unknown change");
  }
}

}  // namespace diptych
