#include "io/csv/csv_inspection.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>

#include "base/error.h"
#include "io/csv/csv_detection.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

template <typename T, bool (*read)(std::string_view, T&)>
bool fits(std::string_view text) {
  T value;
  return read(text, value);
}

struct Candidate {
  TypeId id;
  bool (*fits)(std::string_view);
};

// The first one that fits every field is the column's type.
constexpr std::array candidates = {
    Candidate{TypeId::BigInt, fits<int64_t, detect_bigint>}, Candidate{TypeId::Double, fits<double, detect_double>},
    Candidate{TypeId::Date, fits<int32_t, detect_date>}, Candidate{TypeId::Timestamp, fits<int64_t, detect_timestamp>},
    Candidate{TypeId::Boolean, fits<uint8_t, detect_boolean>}};

// What the fields of a column can be.
class TypeGuess {
 public:
  void see(std::string_view text) {
    for (size_t c = 0; c < candidates.size(); ++c) {
      if ((possible_ & (1U << c)) != 0 && !candidates[c].fits(text)) possible_ &= ~(1U << c);
    }
    any_ = any_ || !is_word_for_double(text);
  }
  TypeId type() const {
    for (size_t c = 0; c < candidates.size() && any_; ++c) {
      if ((possible_ & (1U << c)) != 0) return candidates[c].id;
    }
    return TypeId::Text;
  }

 private:
  unsigned possible_ = (1U << candidates.size()) - 1;
  bool any_ = false;  // other than words that are numbers only beside numbers
};

// All fields as text.
std::vector<ColumnDefinition> text_columns(size_t count) {
  std::vector<ColumnDefinition> columns;
  for (size_t i = 0; i < count; ++i) columns.push_back({"column" + std::to_string(i), {TypeId::Text, 0, 0, 0}});
  return columns;
}

// The types that the rows suggest; text where no row has a value. What is wrong with a row is told when it is read.
std::vector<TypeId> types_of(CsvBlock rows, const FileOptions& options, size_t columns, bool extra_field) {
  std::vector<TypeId> types(columns, TypeId::Text);
  if (options.all_text) return types;
  CsvParser parser(options, text_columns(columns), extra_field, CsvValues::Detected);
  std::vector<size_t> all(columns);
  for (size_t i = 0; i < columns; ++i) all[i] = i;
  const ParsedBlock block = parser.parse(rows, all);
  for (size_t i = 0; i < columns; ++i) {
    const BatchColumn& column = block.batch.columns[i].view;
    TypeGuess guess;
    for (int64_t row = 0; row < block.batch.rows; ++row) {
      if (column.is_null(row)) continue;
      guess.see({column.bytes + column.offsets[row], column.offsets[row + 1] - column.offsets[row]});
    }
    types[i] = guess.type();
  }
  return types;
}

bool fits_type(std::string_view text, TypeId type) {
  for (const Candidate& candidate : candidates) {
    if (candidate.id == type) return candidate.fits(text);
  }
  return false;
}

bool looks_like_header(const std::vector<std::string>& first, const std::vector<TypeId>& types) {
  std::set<std::string> distinct(first.begin(), first.end());
  if (distinct.size() != first.size() || distinct.contains("")) return false;
  for (size_t i = 0; i < first.size(); ++i) {
    unsigned char start = static_cast<unsigned char>(first[i][0]);
    if (!std::isalpha(start) && start != '_' && start < 0x80) return false;
    if (fits_type(first[i], types[i])) return false;
  }
  return true;
}

std::vector<ColumnDefinition> name_columns(const std::vector<std::string>& names, const std::vector<TypeId>& types) {
  std::vector<ColumnDefinition> columns;
  std::set<std::string> taken;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string name = i < names.size() && !names[i].empty() ? names[i] : "column" + std::to_string(i);
    std::string unique = name;
    for (int n = 1; !taken.insert(unique).second; ++n) unique = name + "_" + std::to_string(n);
    columns.push_back({unique, {types[i], 0, 0, 0}});
  }
  return columns;
}

bool holds_names(const std::vector<std::string>& first, std::span<const ColumnDefinition> fields) {
  return std::equal(
      first.begin(), first.end(), fields.begin(), fields.end(),
      [](const std::string& text, const ColumnDefinition& field) { return equal_but_case(text, field.name); });
}

struct FirstRow {
  std::vector<std::string> fields;
  size_t bytes = 0;
  int64_t lines = 0;
  bool ended = false;
};

// Nothing when there is no row.
std::optional<FirstRow> read_first_row(const CsvBlock& block, const FileOptions& options, const std::string& path) {
  if (block.bytes.empty()) return std::nullopt;
  std::string bytes = block.bytes;
  CsvTask task{static_cast<size_t>(std::count(bytes.begin(), bytes.end(), options.delimiter)) + 1, block.line_end,
               block.last, 1};
  const CsvRows rows = read_csv_rows(bytes, options, task);
  if (rows.ended) return FirstRow{{}, 0, 0, true};
  // That it is shorter than the longest possible one is no failure.
  if (rows.failure && rows.failure->column < 0) {
    // PostgreSQL does not look into a header: one that does not end is all there is.
    if (options.header.value_or(false) && !options.match_header &&
        rows.failure->state == SqlState::bad_copy_file_format)
      return FirstRow{{}, 0, 0, true};
    throw Error(rows.failure->state, "file '" + path + "', line 1" + rows.failure->message);
  }
  FirstRow row{{}, rows.used, rows.lines_before(1), false};
  for (size_t i = 0; i < rows.last_row_count; ++i) row.fields.emplace_back(rows.field(i)->text(bytes.data()));
  return row;
}

// HEADER MATCH.
void check_header(const std::vector<std::string>& names, std::span<const ColumnDefinition> fields,
                  const std::string& path) {
  const auto fail = [&path](const std::string& what) {
    throw Error(SqlState::bad_copy_file_format, "file '" + path + "', line 1: " + what);
  };
  if (names.empty()) fail("there is no header");
  if (names.size() != fields.size()) {
    fail("the header has " + std::to_string(names.size()) + " fields, where " + std::to_string(fields.size()) +
         " are wanted");
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fields[i].name)
      fail("the header names field " + std::to_string(i + 1) + " \"" + names[i] + "\", where \"" + fields[i].name +
           "\" is wanted");
  }
}

}  // namespace

CsvShape inspect_csv(const CsvBlock& beginning, const FileOptions& options, std::span<const ColumnDefinition> fields,
                     const std::string& path) {
  CsvShape shape;
  std::optional<FirstRow> first = read_first_row(beginning, options, path);
  if (!first || first->ended) {
    if (options.match_header) check_header({}, fields, path);
    shape.columns.assign(fields.begin(), fields.end());
    shape.ended = true;
    return shape;
  }
  std::vector<std::string> names = first->fields;
  bool ends_in_delimiter = options.lines_end_in_delimiter && names.size() > 1 && names.back().empty();
  shape.extra_field = ends_in_delimiter && (fields.empty() || names.size() == fields.size() + 1);
  if (shape.extra_field) names.pop_back();
  if (!fields.empty()) {
    shape.columns.assign(fields.begin(), fields.end());
    shape.has_header = options.header.value_or(holds_names(names, fields));
    if (shape.has_header && options.match_header) check_header(names, fields, path);
  } else {
    CsvBlock rest{beginning.bytes.substr(first->bytes), beginning.line_end, beginning.last};
    std::vector<TypeId> types = types_of(std::move(rest), options, names.size(), shape.extra_field);
    shape.has_header = options.header.value_or(looks_like_header(names, types));
    if (!shape.has_header) {
      types = types_of(beginning, options, names.size(), shape.extra_field);
      names.clear();
    }
    shape.columns = name_columns(names, types);
  }
  shape.header_bytes = shape.has_header ? first->bytes : 0;
  shape.header_lines = shape.has_header ? first->lines : 0;
  return shape;
}

}  // namespace diptych
