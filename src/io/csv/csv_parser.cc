#include "io/csv/csv_parser.h"

#include <cstring>

#include "io/column_cast.h"
#include "io/csv/csv_detection.h"
#include "io/csv/csv_values.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

// Marks rows of a column null; no bitmap is made until one is.
class NullMarks {
 public:
  NullMarks(OwnedColumn& column, int64_t rows) : column_(column), rows_(rows) {}
  void mark(int64_t row) {
    if (column_.validity.empty()) {
      column_.validity.resize(static_cast<size_t>(validity_bytes(rows_)));
      std::memset(column_.validity.data(), 0xFF, column_.validity.size());
      column_.view.validity = column_.validity.as<uint8_t>();
    }
    column_.validity.as<uint8_t>()[row >> 3] &= static_cast<uint8_t>(~(1U << (row & 7)));
  }

 private:
  OwnedColumn& column_;
  int64_t rows_;
};

// What the readers of one column share.
struct FieldContext {
  const CsvRows& rows;
  const char* bytes;
  size_t bytes_count;
  const FileOptions& options;
  const ColumnDefinition& field;
  size_t index;       // of the field in a row
  size_t row_fields;  // in the rows, one more than there are columns where each row ends in an empty one
  std::optional<CsvFailure>& failure;

  bool is_null(std::string_view text, bool quoted) const { return !quoted && text == options.null_string; }

  // Keeps the first failure: of the earliest row, there of the first column.
  void fail(int64_t row, SqlState state, const std::string& what) const {
    const auto column = static_cast<int64_t>(index);
    if (failure && std::pair(failure->row, failure->column) <= std::pair(row, column)) return;
    failure = CsvFailure{row, column, state, ", column \"" + field.name + "\": " + what};
  }
};

std::string excerpt(std::string_view text) {
  constexpr size_t longest = 60;
  return '"' + std::string(text.substr(0, longest)) + (text.size() > longest ? "...\"" : "\"");
}

// Visits the fields of a column until `take` says false. take(row, text, quoted).
template <typename Take>
void visit(const FieldContext& context, Take take) {
  const CsvField* field = context.rows.field(context.index);
  for (int64_t row = 0; row < context.rows.rows; ++row, field += context.row_fields) {
    if (!take(row, field->text(context.bytes), field->is_quoted())) return;
  }
}

template <typename T, typename Read>
void read_values(const FieldContext& context, OwnedColumn& column, Read read) {
  NullMarks nulls(column, context.rows.rows);
  T* values = column.make_values<T>(context.rows.rows);
  visit(context, [&](int64_t row, std::string_view text, bool quoted) {
    if (context.is_null(text, quoted)) {
      nulls.mark(row);
      values[row] = T{};
      return true;
    }
    int32_t error = 0;
    values[row] = read(text, error);
    if (error == 0) return true;
    SqlState state = state_of_kernel_error(error);
    bool range = state == SqlState::numeric_value_out_of_range || state == SqlState::datetime_field_overflow;
    context.fail(row, state,
                 range ? excerpt(text) + " is out of range for type " + context.field.type.name()
                       : "invalid input syntax for type " + context.field.type.name() + ": " + excerpt(text));
    return false;
  });
}

// limited: whether the type says how long a string may be, or drops blanks.
template <bool limited>
void read_strings(const FieldContext& context, OwnedColumn& column) {
  int64_t rows = context.rows.rows;
  NullMarks nulls(column, rows);
  column.offsets.resize((static_cast<size_t>(rows) + 1) * sizeof(uint32_t));
  column.bytes.resize(context.bytes_count);  // no field is longer than all of them
  uint32_t* offsets = column.offsets.as<uint32_t>();
  char* bytes = column.bytes.as<char>();
  uint32_t end = 0;
  offsets[0] = 0;
  visit(context, [&](int64_t row, std::string_view text, bool quoted) {
    if (context.is_null(text, quoted)) {
      nulls.mark(row);
      text = {};
    } else if (limited && !fit_string(text, context.field.type)) {
      context.fail(row, SqlState::string_data_right_truncation,
                   excerpt(text) + " is too long for type " + context.field.type.name());
      return false;
    }
    if (!text.empty()) std::memcpy(bytes + end, text.data(), text.size());
    end += static_cast<uint32_t>(text.size());
    offsets[row + 1] = end;
    return true;
  });
  column.view.offsets = offsets;
  column.view.bytes = bytes;
}

void read_column_into(const FieldContext& context, OwnedColumn& column) {
  const Type& type = context.field.type;
  switch (type.id) {
    case TypeId::Boolean: return read_values<uint8_t>(context, column, read_boolean);
    case TypeId::SmallInt: return read_values<int32_t>(context, column, read_smallint);
    case TypeId::Null:
    case TypeId::Integer: return read_values<int32_t>(context, column, read_integer);
    case TypeId::BigInt: return read_values<int64_t>(context, column, read_bigint);
    case TypeId::Real: return read_values<float>(context, column, read_real);
    case TypeId::Double: return read_values<double>(context, column, read_double);
    case TypeId::Date: return read_values<int32_t>(context, column, read_date);
    case TypeId::Timestamp: return read_values<int64_t>(context, column, read_timestamp);
    case TypeId::Interval: return read_values<Interval>(context, column, read_interval);
    case TypeId::Numeric:
      if (type.physical() == PhysicalType::Int64) {
        return read_values<int64_t>(context, column, [&type](std::string_view text, int32_t& error) {
          return read_numeric64(text, type, error);
        });
      }
      return read_values<int128_t>(context, column, [&type](std::string_view text, int32_t& error) {
        return read_numeric128(text, type, error);
      });
    case TypeId::Text: return read_strings<false>(context, column);
    case TypeId::Varchar:
    case TypeId::Char: return read_strings<true>(context, column);
  }
}

template <typename T>
void read_detected_values(const FieldContext& context, OwnedColumn& column, bool (*detect)(std::string_view, T&)) {
  read_values<T>(context, column, [&context, detect](std::string_view text, int32_t& error) {
    T value{};
    if (!detect(text, value)) error = error_of_syntax(context.field.type.id);
    return value;
  });
}

void read_detected_column_into(const FieldContext& context, OwnedColumn& column) {
  switch (context.field.type.id) {
    case TypeId::BigInt: return read_detected_values(context, column, detect_bigint);
    case TypeId::Double: return read_detected_values(context, column, detect_double);
    case TypeId::Date: return read_detected_values(context, column, detect_date);
    case TypeId::Timestamp: return read_detected_values(context, column, detect_timestamp);
    case TypeId::Boolean: return read_detected_values(context, column, detect_boolean);
    default: return read_column_into(context, column);
  }
}

// What each row ends in must be empty.
void check_extra_fields(CsvRows& rows, const char* bytes, size_t row_fields) {
  for (int64_t row = 0; row < rows.rows; ++row) {
    if (rows.field((static_cast<size_t>(row) + 1) * row_fields - 1)->text(bytes).empty()) continue;
    rows.failure = CsvFailure{row, -1, SqlState::bad_copy_file_format, ": text behind the last column"};
    return;
  }
}

}  // namespace

CsvParser::CsvParser(const FileOptions& options, std::vector<ColumnDefinition> fields, bool extra_field,
                     CsvValues values)
    : options_(options), fields_(std::move(fields)), extra_field_(extra_field), values_(values) {}

ParsedBlock CsvParser::parse(CsvBlock& block, std::span<const size_t> wanted) const {
  const size_t row_fields = fields_.size() + (extra_field_ ? 1 : 0);
  CsvRows rows = read_csv_rows(block.bytes, options_, {row_fields, block.line_end, block.last});
  if (extra_field_) check_extra_fields(rows, block.bytes.data(), row_fields);
  ParsedBlock parsed;
  parsed.failure = std::move(rows.failure);
  for (size_t field : wanted) {
    OwnedColumn& column = parsed.batch.columns.emplace_back();
    column.view.physical = fields_[field].type.physical();
    FieldContext context{rows,  block.bytes.data(), block.bytes.size(), options_, fields_[field],
                         field, row_fields,         parsed.failure};
    values_ == CsvValues::Detected ? read_detected_column_into(context, column) : read_column_into(context, column);
  }
  parsed.batch.rows = parsed.failure ? parsed.failure->row : rows.rows;
  parsed.lines = rows.lines_before(rows.rows);
  parsed.ended = rows.ended;
  if (parsed.failure) parsed.failure_line = rows.lines_before(parsed.failure->row);
  return parsed;
}

}  // namespace diptych
