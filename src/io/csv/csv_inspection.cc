#include "io/csv/csv_inspection.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/error.h"
#include "io/csv/csv_parser.h"
#include "io/csv/csv_values.h"
#include "tablet/validity_bits.h"

namespace diptych {
namespace {

bool equal_but_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool is_boolean(std::string_view text) {
  return equal_but_case(text, "true") || equal_but_case(text, "false") || equal_but_case(text, "t") ||
         equal_but_case(text, "f");
}

bool is_bigint(std::string_view text) {
  int32_t error = 0;
  read_bigint(text, error);
  return error == 0;
}

// Words such as nan are no sign of a number.
bool is_double(std::string_view text) {
  int32_t error = 0;
  read_double(text, error);
  return error == 0 && text.find_first_of("0123456789") != std::string_view::npos;
}

bool is_date(std::string_view text) {
  int32_t days = 0;
  return read_iso_date(text, days);
}

bool is_timestamp(std::string_view text) {
  int32_t days = 0, error = 0;
  if (text.size() < 16 || !read_iso_date(text.substr(0, 10), days)) return false;
  read_timestamp(text, error);
  return error == 0;
}

struct Candidate {
  TypeId id;
  bool (*fits)(std::string_view);
};

// The first one that fits every field is the column's type.
constexpr std::array candidates = {Candidate{TypeId::BigInt, is_bigint}, Candidate{TypeId::Double, is_double},
                                   Candidate{TypeId::Date, is_date}, Candidate{TypeId::Timestamp, is_timestamp},
                                   Candidate{TypeId::Boolean, is_boolean}};

TypeId narrowest_type(const BatchColumn& column, int64_t rows, unsigned& possible) {
  for (int64_t i = 0; i < rows; ++i) {
    if (!is_valid(column.validity, column.validity_offset + i)) continue;
    std::string_view text(column.bytes + column.offsets[i], column.offsets[i + 1] - column.offsets[i]);
    for (size_t c = 0; c < candidates.size(); ++c) {
      unsigned bit = 1U << c;
      if ((possible & bit) != 0 && !candidates[c].fits(text)) possible &= ~bit;
    }
  }
  for (size_t c = 0; c < candidates.size(); ++c) {
    if ((possible & (1U << c)) != 0) return candidates[c].id;
  }
  return TypeId::Text;
}

// All fields as text.
std::vector<ColumnDefinition> text_columns(size_t count) {
  std::vector<ColumnDefinition> columns;
  for (size_t i = 0; i < count; ++i) columns.push_back({"column" + std::to_string(i), {TypeId::Text, 0, 0, 0}});
  return columns;
}

// The types that the rows suggest; text where no row has a value.
std::vector<TypeId> types_of(std::string_view rows, const FileOptions& options, size_t columns, bool extra_field) {
  CsvParser parser(options, text_columns(columns), extra_field);
  std::vector<size_t> all(columns);
  for (size_t i = 0; i < columns; ++i) all[i] = i;
  ParsedBlock block = parser.parse(rows, true, all);
  if (block.failure)
    throw Error(block.failure->state, "row " + std::to_string(block.failure->row + 1) + block.failure->message);
  constexpr unsigned every_candidate = (1U << candidates.size()) - 1;
  std::vector<TypeId> types(columns, TypeId::Text);
  for (size_t i = 0; i < columns; ++i) {
    unsigned possible = every_candidate;
    bool any = false;
    for (const OwnedBatch& batch : block.batches) {
      const BatchColumn& column = batch.columns[i].view;
      any = any || column.validity == nullptr || count_ones(column.validity, 0, batch.rows) > 0;
      types[i] = narrowest_type(column, batch.rows, possible);
    }
    if (!any) types[i] = TypeId::Text;
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

}  // namespace

CsvShape inspect_csv(std::string_view beginning, const FileOptions& options, std::span<const ColumnDefinition> fields) {
  CsvShape shape;
  std::optional<CsvFirstRow> first = read_first_row(beginning, options);
  if (!first) {
    shape.columns.assign(fields.begin(), fields.end());
    return shape;
  }
  std::vector<std::string> names = first->fields;
  bool ends_in_delimiter = options.delimiter == '|' && names.size() > 1 && names.back().empty();
  shape.extra_field = ends_in_delimiter && (fields.empty() || names.size() == fields.size() + 1);
  if (shape.extra_field) names.pop_back();
  if (!fields.empty()) {
    shape.columns.assign(fields.begin(), fields.end());
    shape.has_header = options.header.value_or(holds_names(names, fields));
  } else {
    std::vector<TypeId> types = types_of(beginning.substr(first->bytes), options, names.size(), shape.extra_field);
    shape.has_header = options.header.value_or(looks_like_header(names, types));
    if (!shape.has_header) {
      types = types_of(beginning, options, names.size(), shape.extra_field);
      names.clear();
    }
    shape.columns = name_columns(names, types);
  }
  shape.header_bytes = shape.has_header ? first->bytes : 0;
  return shape;
}

}  // namespace diptych
