#include "program/source_facts.h"

#include <algorithm>

#include "program/expression_compiler.h"
#include "tablet/dictionary.h"
#include "tablet/source_parts.h"

namespace diptych {

namespace {

// What the zone maps of all tablets prove of one column.
RegisterInfo values_of(const TabletSource& source, size_t column) {
  const Type& type = source.columns()[column].type;
  RegisterInfo info{type.physical(), type, false};
  const ColumnSummary summary = source.summary(column);
  info.nullable = summary.has_nulls;
  if (!range_of(type).has_value() || !summary.is_bounded) return info;
  const Range range = summary.widest.has_bounds ? Range{summary.widest.low, summary.widest.high} : Range{0, 0};
  info.has_range = true;
  info.low = range.low;
  info.high = range.high;
  if (type.is_integer() || type.id == TypeId::Numeric) info.physical = narrowest(range);
  return info;
}

SourceFacts::Column facts_of(const TabletSource& source, size_t number) {
  SourceFacts::Column column{number, values_of(source, number)};
  column.dictionary = source.common_dictionary(number);
  if (column.dictionary == nullptr) return column;
  column.dictionary_id = column.dictionary->id();
  // Before anything else reads of the dictionary, which may grow meanwhile.
  column.dictionary_size = column.dictionary->size();
  return column;
}

bool is_within(const RegisterInfo& now, const RegisterInfo& proven) {
  if (now.nullable && !proven.nullable) return false;
  return !proven.has_range || (now.has_range && Range{now.low, now.high}.within({proven.low, proven.high}));
}

}  // namespace

bool has_all_rows(const TabletSource& source) {
  return !source.visibility_column() || source.live_rows() == source.row_count();
}

SourceFacts facts_of(const TabletSource& source, std::span<const size_t> columns) {
  SourceFacts facts;
  facts.row_bound = most_rows(source);
  for (const size_t column : columns) facts.columns.push_back(facts_of(source, column));
  return facts;
}

bool hold(const SourceFacts& facts, const TabletSource& source) {
  if (most_rows(source) > facts.row_bound || (facts.has_all_rows && !has_all_rows(source))) return false;
  return std::all_of(facts.columns.begin(), facts.columns.end(), [&](const SourceFacts::Column& proven) {
    const SourceFacts::Column now = facts_of(source, proven.number);
    return is_within(now.values, proven.values) && now.dictionary_id == proven.dictionary_id &&
           now.dictionary_size == proven.dictionary_size;
  });
}

}  // namespace diptych
