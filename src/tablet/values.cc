#include "tablet/values.h"

#include <cstring>

#include "base/error.h"
#include "tablet/builder.h"
#include "tablet/cells.h"

namespace diptych {

namespace {

Value plain_value_at(const ColumnView& view, const Type& type, int64_t row) {
  switch (view.physical) {
    case PhysicalType::Bool: return Value::boolean(integer_at(view, row) != 0);
    case PhysicalType::Float32: return Value::floating(type, plain_at<float>(view, row));
    case PhysicalType::Float64: return Value::floating(type, plain_at<double>(view, row));
    case PhysicalType::Interval: return Value::interval(plain_at<Interval>(view, row));
    default: return Value::integral(type, integer_at(view, row));
  }
}

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// Cells of one column in the form that a tablet builder takes.
class CellColumn {
 public:
  CellColumn(const ColumnDefinition& definition, int64_t rows)
      : physical_(definition.type.physical()), validity_((rows + 7) / 8) {
    if (physical_ == PhysicalType::Text) offsets_.push_back(0);
  }

  void append(const Value& value, int64_t row) {
    if (!value.is_null()) validity_[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
    if (physical_ == PhysicalType::Text) {
      if (!value.is_null()) bytes_ += value.as_string();
      offsets_.push_back(static_cast<uint32_t>(bytes_.size()));
      return;
    }
    const size_t width = static_cast<size_t>(width_bytes(physical_));
    values_.resize(values_.size() + width);
    if (value.is_null()) return;
    const std::vector<std::byte> form = register_form(value, physical_);
    std::memcpy(values_.data() + values_.size() - width, form.data(), width);
  }

  BatchColumn view() const {
    BatchColumn column;
    column.physical = physical_;
    column.values = values_.data();
    column.validity = validity_.data();
    column.offsets = offsets_.empty() ? nullptr : offsets_.data();
    column.bytes = bytes_.data();
    return column;
  }

 private:
  PhysicalType physical_;
  std::vector<uint8_t> validity_;
  std::vector<std::byte> values_;
  std::vector<uint32_t> offsets_;
  std::string bytes_;
};

}  // namespace

std::vector<std::byte> register_form(const Value& value, PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool: return bytes_of(static_cast<uint8_t>(value.as_boolean()));
    case PhysicalType::Int32: return bytes_of(static_cast<int32_t>(value.as_integral()));
    case PhysicalType::Int64: return bytes_of(static_cast<int64_t>(value.as_integral()));
    case PhysicalType::Int128: return bytes_of(value.as_integral());
    case PhysicalType::Float32: return bytes_of(static_cast<float>(value.as_double()));
    case PhysicalType::Float64: return bytes_of(value.as_double());
    case PhysicalType::Interval: return bytes_of(value.as_interval());
    case PhysicalType::Text: break;
  }
  throw Error(SqlState::internal_error, "invariant broken: text has no register form of its own");
}

Value value_at(const ColumnView& view, const Type& type, int64_t row) {
  if (is_null_at(view, row)) return Value::null(type);
  switch (view.encoding) {
    case Encoding::Plain: return plain_value_at(view, type, row);
    case Encoding::Dictionary:
    case Encoding::Heap: return Value::string(type, std::string(string_at(view, row)));
    case Encoding::FrameOfReference: break;
  }
  const int128_t value = integer_at(view, row);
  return type.id == TypeId::Boolean ? Value::boolean(value != 0) : Value::integral(type, value);
}

std::shared_ptr<MemorySource> make_value_source(std::vector<ColumnDefinition> columns, const std::vector<Value>& cells,
                                                int64_t rows) {
  auto source = std::make_shared<MemorySource>(columns);
  if (rows == 0) return source;
  std::vector<CellColumn> staged;
  for (const ColumnDefinition& column : columns) staged.emplace_back(column, rows);
  for (int64_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < columns.size(); ++i) staged[i].append(cells[row * columns.size() + i], row);
  std::vector<BatchColumn> views;
  for (const CellColumn& column : staged) views.push_back(column.view());
  TabletBuilder builder(columns, rows, source->new_dictionaries());
  builder.append(RowBatch{rows, views}, 0, rows);
  source->add(builder.finish());
  return source;
}

}  // namespace diptych
