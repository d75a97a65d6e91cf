#include "session/copy.h"

#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "io/data_file.h"
#include "io/data_writer.h"
#include "tablet/values.h"

namespace diptych {

namespace {

// A column that the file does not give: one value, repeated for as many rows as a batch has.
class RepeatedColumn {
 public:
  RepeatedColumn(const TableColumn& column, const Value& value)
      : definition_{column.name, column.type}, value_(value) {}

  BatchColumn view(int64_t rows) {
    if (rows > rows_) grow(rows);
    BatchColumn column;
    column.physical = definition_.type.physical();
    column.values = values_.data();
    column.validity = value_.is_null() ? validity_.data() : nullptr;
    column.bytes = bytes_.data();
    if (column.physical == PhysicalType::Text) {
      column.offsets = offsets_.data();
      column.codes = codes_.data();
    }
    return column;
  }

 private:
  void grow(int64_t rows) {
    rows_ = rows;
    const auto count = static_cast<size_t>(rows);
    validity_.assign((count + 7) / 8, 0);
    if (definition_.type.physical() == PhysicalType::Text) {
      // The string once, however many rows there are.
      bytes_ = value_.is_null() ? std::string() : value_.as_string();
      offsets_ = {0, static_cast<uint32_t>(bytes_.size())};
      codes_.assign(count, 0);
      return;
    }
    const size_t width = static_cast<size_t>(width_bytes(definition_.type.physical()));
    values_.assign(count * width, std::byte{0});
    if (value_.is_null()) return;
    const std::vector<std::byte> one = register_form(value_, definition_.type.physical());
    for (size_t i = 0; i < count; ++i) std::memcpy(values_.data() + i * width, one.data(), width);
  }

  ColumnDefinition definition_;
  Value value_;
  int64_t rows_ = 0;
  std::vector<uint8_t> validity_;
  std::vector<std::byte> values_;
  std::vector<uint32_t> offsets_;
  std::vector<int32_t> codes_;
  std::string bytes_;
};

class FileCopier {
 public:
  FileCopier(Connection& connection, WriteTransaction& transaction, const BoundCopyFrom& command)
      : context_(connection.execution_context()), transaction_(transaction), command_(command) {
    const auto table = transaction.preview()->find_table(command.table.name);
    check_invariant(table != nullptr, "the table to copy into exists");
    const TableDefinition& definition = table->definition();
    repeated_.resize(definition.columns.size());
    for (const size_t column : command.columns)
      fields_.push_back({definition.columns[column].name, definition.columns[column].type});
    for (size_t i = 0; i < definition.columns.size(); ++i)
      if (std::find(command.columns.begin(), command.columns.end(), i) == command.columns.end())
        repeated_[i].emplace(definition.columns[i], command.defaults[i]);
  }

  int64_t run(FileSystem& files) {
    const auto file =
        open_data_file({files, context_.temp, context_.cancelled}, command_.path, command_.options, fields_);
    if (context_.progress) context_.progress->rows_total = file->row_count().value_or(0);
    int64_t rows = 0;
    oneapi::tbb::task_arena arena(context_.threads);
    arena.execute([&] {
      file->for_each_batch([&](const RowBatch& batch) {
        append(batch);
        rows += batch.rows;
        if (context_.progress) context_.progress->rows_done = rows;
      });
    });
    return rows;
  }

 private:
  void append(const RowBatch& batch) {
    if (context_.cancelled->load(std::memory_order_relaxed))
      throw Error(SqlState::query_canceled, "canceling statement due to user request");
    std::vector<BatchColumn> columns(repeated_.size());
    for (size_t i = 0; i < command_.columns.size(); ++i) columns[command_.columns[i]] = batch.columns[i];
    for (size_t i = 0; i < repeated_.size(); ++i)
      if (repeated_[i]) columns[i] = repeated_[i]->view(batch.rows);
    transaction_.append(command_.table.name, RowBatch{batch.rows, columns});
  }

  ExecutionContext context_;
  WriteTransaction& transaction_;
  const BoundCopyFrom& command_;
  std::vector<ColumnDefinition> fields_;
  std::vector<std::optional<RepeatedColumn>> repeated_;  // for columns that the file does not give
};

}  // namespace

int64_t copy_from_file(Connection& connection, WriteTransaction& transaction, const BoundCopyFrom& command) {
  return FileCopier(connection, transaction, command).run(connection.database().files());
}

int64_t copy_to_file(Connection& connection, const BoundCopyTo& command, const TabletSource& rows) {
  return write_data_file(connection.database().files(), command.path, command.options, rows);
}

}  // namespace diptych
