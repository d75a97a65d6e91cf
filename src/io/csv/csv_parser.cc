#include "io/csv/csv_parser.h"

#include <arrow/memory_pool.h>
#include <arrow/util/utf8.h>

#include <cstring>

#include "io/column_cast.h"
#include "io/csv/csv_values.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

using arrow::csv::BlockParser;

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
  const BlockParser& parser;
  const FileOptions& options;
  const ColumnDefinition& field;
  int32_t index;  // of the field in a row
  int64_t first_row;
  std::optional<CsvFailure>& failure;

  bool is_null(std::string_view text, bool quoted) const { return !quoted && text == options.null_string; }

  // Keeps the failure of the earliest row.
  void fail(int64_t row, SqlState state, const std::string& what) const {
    if (failure && failure->row <= first_row + row) return;
    failure = CsvFailure{first_row + row, state, ", column \"" + field.name + "\": " + what};
  }
};

std::string excerpt(std::string_view text) {
  constexpr size_t longest = 60;
  return '"' + std::string(text.substr(0, longest)) + (text.size() > longest ? "...\"" : "\"");
}

// Visits the fields of a column until `take` says false. take(row, text, quoted).
template <typename Take>
void visit(const FieldContext& context, Take take) {
  int64_t row = 0;
  arrow::Status status =
      context.parser.VisitColumn(context.index, [&](const uint8_t* data, uint32_t size, bool quoted, bool) {
        bool go_on = take(row++, std::string_view(reinterpret_cast<const char*>(data), size), quoted);
        return go_on ? arrow::Status::OK() : arrow::Status::Cancelled("");
      });
  check_invariant(status.ok() || status.IsCancelled(), "visiting parsed fields does not fail");
}

template <typename T, typename Read>
void read_values(const FieldContext& context, OwnedColumn& column, Read read) {
  NullMarks nulls(column, context.parser.num_rows());
  T* values = column.make_values<T>(context.parser.num_rows());
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
  int64_t rows = context.parser.num_rows();
  NullMarks nulls(column, rows);
  column.offsets.resize((static_cast<size_t>(rows) + 1) * sizeof(uint32_t));
  column.bytes.resize(context.parser.num_bytes());  // no field is longer than all of them
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

bool is_utf8(std::string_view text) {
  static const bool initialised = (arrow::util::InitializeUTF8(), true);
  return initialised &&
         arrow::util::ValidateUTF8(reinterpret_cast<const uint8_t*>(text.data()), static_cast<int64_t>(text.size()));
}

// The first line that is no UTF-8.
int64_t first_line_not_utf8(std::string_view bytes) {
  int64_t line = 0;
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    if (!is_utf8(bytes.substr(0, end)) || end == std::string_view::npos) return line;
    bytes.remove_prefix(end + 1);
    ++line;
  }
  return line;
}

// Follows the quotes of a text from its beginning, once.
class QuoteTracker {
 public:
  QuoteTracker(std::string_view text, const FileOptions& options) : text_(text), options_(options) {}
  // Whether `place`, not before the one asked for last, is outside quotes.
  bool is_outside(size_t place) {
    for (; at_ < place; ++at_) {
      if (inside_ && text_[at_] == options_.escape && options_.escape != options_.quote) {
        ++at_;
      } else if (text_[at_] == options_.quote) {
        inside_ = !inside_;
      }
    }
    return !inside_;
  }

 private:
  std::string_view text_;
  const FileOptions& options_;
  size_t at_ = 0;
  bool inside_ = false;
};

// Where the first line begins that has nothing in it. Arrow reads it as a row of empty fields; PostgreSQL as one of one
// field.
size_t find_empty_line(std::string_view bytes, const FileOptions& options) {
  for (std::string_view end : {"\n", "\r\n"}) {
    if (bytes.starts_with(end)) return 0;
  }
  size_t first = std::string_view::npos;
  for (std::string_view ends : {"\n\n", "\n\r\n"}) {
    QuoteTracker quotes(bytes, options);
    for (size_t at = bytes.find(ends); at < first; at = bytes.find(ends, at + 1)) {
      if (quotes.is_outside(at)) first = at + 1;
    }
  }
  return first;
}

}  // namespace

arrow::csv::ParseOptions parse_options_of(const FileOptions& options) {
  arrow::csv::ParseOptions parse = arrow::csv::ParseOptions::Defaults();
  parse.delimiter = options.delimiter;
  parse.quoting = true;
  parse.quote_char = options.quote;
  parse.double_quote = options.escape == options.quote;
  parse.escaping = options.escape != options.quote;
  parse.escape_char = options.escape;
  parse.newlines_in_values = true;
  parse.ignore_empty_lines = false;
  return parse;
}

CsvParser::CsvParser(const FileOptions& options, std::vector<ColumnDefinition> fields, bool extra_field)
    : options_(options), fields_(std::move(fields)), extra_field_(extra_field) {}

ParsedBlock CsvParser::parse(std::string_view bytes, bool last, std::span<const size_t> wanted) const {
  ParsedBlock block;
  if (!is_utf8(bytes)) {
    block.failure =
        CsvFailure{first_line_not_utf8(bytes), SqlState::character_not_in_repertoire, ": a text is not valid UTF-8"};
    return block;
  }
  int32_t expected = static_cast<int32_t>(fields_.size()) + (extra_field_ ? 1 : 0);
  arrow::csv::ParseOptions options = parse_options_of(options_);
  options.invalid_row_handler = [&block](const arrow::csv::InvalidRow& row) {
    block.failure = CsvFailure{row.number, SqlState::bad_copy_file_format,
                               ": " + std::to_string(row.actual_columns) + " fields, where " +
                                   std::to_string(row.expected_columns) + " are wanted"};
    return arrow::csv::InvalidRowResult::Error;
  };
  size_t empty_line = expected > 1 ? find_empty_line(bytes, options_) : std::string_view::npos;
  bytes = bytes.substr(0, empty_line);
  while (!bytes.empty() && !block.failure) {
    BlockParser parser(arrow::default_memory_pool(), options, expected, block.rows);
    uint32_t used = 0;
    arrow::Status status = last ? parser.ParseFinal(bytes, &used) : parser.Parse(bytes, &used);
    if (!block.failure && (!status.ok() || used == 0)) {
      block.failure = CsvFailure{block.rows + parser.num_rows(), SqlState::bad_copy_file_format,
                                 status.ok() ? ": a quote is not closed" : ": " + status.message()};
    }
    if (block.failure || !parse_rows(parser, wanted, block)) break;
    bytes.remove_prefix(used);
  }
  if (!block.failure && empty_line != std::string_view::npos) {
    block.failure = CsvFailure{block.rows, SqlState::bad_copy_file_format,
                               ": 1 fields, where " + std::to_string(expected) + " are wanted"};
  }
  return block;
}

bool CsvParser::parse_rows(BlockParser& parser, std::span<const size_t> wanted, ParsedBlock& block) const {
  OwnedBatch batch;
  batch.rows = parser.num_rows();
  for (size_t field : wanted) batch.columns.push_back(read_column(parser, field, block));
  block.batches.push_back(std::move(batch));
  block.rows += parser.num_rows();
  return !block.failure;
}

OwnedColumn CsvParser::read_column(const BlockParser& parser, size_t field, ParsedBlock& block) const {
  OwnedColumn column;
  column.view.physical = fields_[field].type.physical();
  FieldContext context{parser, options_, fields_[field], static_cast<int32_t>(field), block.rows, block.failure};
  read_column_into(context, column);
  return column;
}

std::optional<CsvFirstRow> read_first_row(std::string_view bytes, const FileOptions& options) {
  if (bytes.empty()) return std::nullopt;
  BlockParser parser(arrow::default_memory_pool(), parse_options_of(options), -1, 0, 1);
  uint32_t used = 0;
  arrow::Status status = parser.ParseFinal(bytes, &used);
  if (!status.ok()) throw Error(SqlState::bad_copy_file_format, status.message());
  CsvFirstRow row;
  row.bytes = used;
  status = parser.VisitLastRow([&row](const uint8_t* data, uint32_t size, bool, bool) {
    row.fields.emplace_back(reinterpret_cast<const char*>(data), size);
    return arrow::Status::OK();
  });
  check_invariant(status.ok(), "visiting parsed fields does not fail");
  return row;
}

}  // namespace diptych
