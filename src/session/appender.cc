#include "session/appender.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "bind/coercion.h"
#include "session/parameters.h"
#include "session/session_evaluator.h"
#include "tablet/encoding/staged_column.h"
#include "tablet/values.h"

namespace diptych {

namespace {

constexpr int64_t batch_rows = 16384;

}  // namespace

// Values of one column of the rows gathered so far.
class Appender::Column {
 public:
  explicit Column(const TableColumn& column) : definition_(column), physical_(column.type.physical()) { clear(); }

  const TableColumn& definition() const { return definition_; }

  void append_null() {
    set_validity(false);
    if (physical_ == PhysicalType::Text)
      offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
    else
      values_.resize(values_.size() + static_cast<size_t>(width_bytes(physical_)));
    ++rows_;
  }

  template <typename T>
  void append_fixed(T value) {
    const size_t at = values_.size();
    values_.resize(at + sizeof(T));
    std::memcpy(values_.data() + at, &value, sizeof(T));
    set_validity(true);
    ++rows_;
  }

  void append_text(std::string_view text) {
    bytes_.append(text);
    offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
    set_validity(true);
    ++rows_;
  }

  void append_value(const Value& value) {
    if (physical_ == PhysicalType::Text) return append_text(value.as_string());
    const std::vector<std::byte> form = register_form(value, physical_);
    values_.insert(values_.end(), form.begin(), form.end());
    set_validity(true);
    ++rows_;
  }

  BatchColumn view() const {
    BatchColumn column;
    column.physical = physical_;
    column.values = values_.data();
    column.validity = has_nulls_ ? validity_.data() : nullptr;
    if (physical_ == PhysicalType::Text) column.offsets = offsets_.data();
    column.bytes = bytes_.data();
    return column;
  }

  void clear() {
    rows_ = 0;
    has_nulls_ = false;
    validity_.clear();
    values_.clear();
    bytes_.clear();
    offsets_.assign(1, 0);
  }

 private:
  void set_validity(bool valid) {
    if (rows_ % 8 == 0) validity_.push_back(0);
    if (valid)
      validity_.back() |= static_cast<uint8_t>(1 << (rows_ % 8));
    else
      has_nulls_ = true;
  }

  TableColumn definition_;
  PhysicalType physical_;
  int64_t rows_ = 0;
  bool has_nulls_ = false;
  std::vector<uint8_t> validity_;
  std::vector<std::byte> values_;
  std::vector<uint32_t> offsets_;
  std::string bytes_;
};

Appender::Appender(Connection& connection, const std::string& table, size_t batch_bytes)
    : connection_(connection),
      table_(table),
      writing_(connection.begin_write({syntax::TableName{table}}, true)),
      batch_bytes_(batch_bytes) {
  const auto snapshot = writing_.catalog()->find_table(table);
  if (!snapshot) throw Error(SqlState::undefined_table, fmt::format("relation \"{}\" does not exist", table));
  for (const TableColumn& column : snapshot->definition().columns) columns_.push_back(std::make_unique<Column>(column));
  writer_ = &writing_.writer_of(snapshot->definition().is_temporary);
  connection_.set_has_appender(true);
}

Appender::~Appender() {
  if (!is_finished_) writing_.abandon();
  connection_.set_has_appender(false);
}

Appender::Column& Appender::next_column() {
  if (column_ >= columns_.size())
    throw Error(SqlState::program_limit_exceeded,
                fmt::format("table \"{}\" has only {} columns", table_, columns_.size()));
  return *columns_[column_];
}

void Appender::append_null() {
  Column& column = next_column();
  if (column.definition().not_null)
    throw Error(SqlState::not_null_violation,
                fmt::format("null value in column \"{}\" of relation \"{}\"", column.definition().name, table_));
  column.append_null();
  ++column_;
}

void Appender::append(int64_t value) {
  Column& column = next_column();
  switch (column.definition().type.id) {
    case TypeId::Integer:
      if (value < INT32_MIN || value > INT32_MAX)
        throw Error(SqlState::numeric_value_out_of_range, "integer out of range");
      column.append_fixed(static_cast<int32_t>(value));
      break;
    case TypeId::BigInt: column.append_fixed(value); break;
    case TypeId::Real: column.append_fixed(static_cast<float>(value)); break;
    case TypeId::Double: column.append_fixed(static_cast<double>(value)); break;
    default: return append_converted(Value::bigint(value));
  }
  ++column_;
}

void Appender::append(double value) {
  Column& column = next_column();
  switch (column.definition().type.id) {
    case TypeId::Real: {
      const auto rounded = static_cast<float>(value);
      if (std::isinf(rounded) || rounded == 0) return append_converted(Value::float64(value));  // perhaps out of range
      column.append_fixed(rounded);
      break;
    }
    case TypeId::Double: column.append_fixed(value); break;
    default: return append_converted(Value::float64(value));
  }
  ++column_;
}

void Appender::append(std::string_view text) {
  Column& column = next_column();
  if (text.size() >= most_string_bytes)
    throw Error(SqlState::program_limit_exceeded, "a string is 1 GiB long or longer");
  check_text(text);
  string_bytes_ += text.size();
  if (column.definition().type.id != TypeId::Text) return append_converted(Value::text(std::string(text)));
  column.append_text(text);
  ++column_;
}

// As INSERT stores it: what a cast would cut is an error.
void Appender::append_converted(Value value) {
  Column& column = next_column();
  const Type& type = column.definition().type;
  const auto context = type.is_string() ? CastContext::Assignment : CastContext::Explicit;
  ParameterTypes no_parameters;
  const ExpressionPtr stored = coerce(make_constant(std::move(value), -1), type, context, no_parameters);
  column.append_value(is_constant(*stored) ? stored->value : SessionEvaluator(connection_).evaluate_constant(*stored));
  ++column_;
}

void Appender::end_row() {
  if (column_ != columns_.size())
    throw Error(SqlState::program_limit_exceeded,
                fmt::format("the row has {} values, table \"{}\" has {} columns", column_, table_, columns_.size()));
  column_ = 0;
  if (++rows_ >= batch_rows || string_bytes_ >= batch_bytes_) flush();
}

void Appender::flush() {
  std::vector<BatchColumn> views;
  for (const auto& column : columns_) views.push_back(column->view());
  if (rows_ > 0) writer_->append(table_, RowBatch{rows_, views});
  for (const auto& column : columns_) column->clear();
  rows_ = 0;
  string_bytes_ = 0;
}

void Appender::finish() {
  if (column_ != 0) throw Error(SqlState::program_limit_exceeded, "the last row is not ended");
  flush();
  connection_.finish(writing_);
  is_finished_ = true;
}

}  // namespace diptych
