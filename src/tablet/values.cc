#include "tablet/values.h"

#include <cstring>

#include "base/error.h"
#include "tablet/builder.h"
#include "tablet/cells.h"
#include "tablet/encoding/staged_column.h"

namespace diptych {

namespace {

// Of fewer, strings are kept as they are: making a dictionary takes longer than all that it saves.
constexpr int64_t least_coded_rows = 64;

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

const std::string& checked(const std::string& text) {
  if (text.size() >= most_string_bytes)
    throw Error(SqlState::program_limit_exceeded, "a string is 1 GiB long or longer");
  return text;
}

// Cells of one column in the form that a tablet builder takes.
class CellColumn {
 public:
  explicit CellColumn(const ColumnDefinition& definition) : physical_(definition.type.physical()) {
    if (physical_ == PhysicalType::Text) offsets_.push_back(0);
  }

  void append(const Value& value, int64_t row) {
    if (row % 8 == 0) validity_.push_back(0);
    if (!value.is_null()) validity_[row / 8] |= static_cast<uint8_t>(1 << (row % 8));
    if (physical_ == PhysicalType::Text) {
      if (!value.is_null()) bytes_ += checked(value.as_string());
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
  int64_t string_bytes() const { return static_cast<int64_t>(bytes_.size()); }

 private:
  PhysicalType physical_;
  std::vector<uint8_t> validity_;
  std::vector<std::byte> values_;
  std::vector<uint32_t> offsets_;
  std::string bytes_;
};

// Rows of VALUES from `first` on, column by column: as many as have strings of no more than so many bytes, and one
// more.
std::vector<CellColumn> stage_rows(const std::vector<ColumnDefinition>& columns, const std::vector<Value>& cells,
                                   int64_t& first, int64_t rows, int64_t batch_bytes) {
  std::vector<CellColumn> staged(columns.begin(), columns.end());
  bool has_room = true;
  for (int64_t row = 0; first < rows && has_room; ++row, ++first) {
    for (size_t i = 0; i < columns.size(); ++i) {
      staged[i].append(cells[static_cast<size_t>(first) * columns.size() + i], row);
      has_room = has_room && staged[i].string_bytes() < batch_bytes;
    }
  }
  return staged;
}

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
                                                int64_t rows, int64_t batch_bytes) {
  auto source = std::make_shared<MemorySource>(columns);
  if (rows == 0) return source;
  const auto dictionaries =
      rows < least_coded_rows ? std::vector<Dictionary*>(columns.size()) : source->new_dictionaries();
  TabletBuilder builder(columns, rows, dictionaries, batch_bytes);
  for (int64_t next = 0; next < rows;) {
    const int64_t first = next;
    const std::vector<CellColumn> staged = stage_rows(columns, cells, next, rows, batch_bytes);
    std::vector<BatchColumn> views;
    for (const CellColumn& column : staged) views.push_back(column.view());
    const RowBatch batch{next - first, views};
    for (int64_t row = 0; row < batch.rows;) {
      row += builder.append(batch, row, batch.rows - row);
      if (builder.full()) source->add(builder.finish());
    }
  }
  if (builder.rows() > 0) source->add(builder.finish());
  return source;
}

}  // namespace diptych
