#include "bind/expression.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"

namespace diptych {

namespace {

const char* symbol_of(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::Add: return "+";
    case ExpressionKind::Sub: return "-";
    case ExpressionKind::Mul: return "*";
    case ExpressionKind::Div: return "/";
    case ExpressionKind::Mod: return "%";
    case ExpressionKind::Eq: return "=";
    case ExpressionKind::Neq: return "<>";
    case ExpressionKind::Lt: return "<";
    case ExpressionKind::Le: return "<=";
    case ExpressionKind::Gt: return ">";
    case ExpressionKind::Ge: return ">=";
    case ExpressionKind::IsDistinct: return "IS DISTINCT FROM";
    case ExpressionKind::IsNotDistinct: return "IS NOT DISTINCT FROM";
    case ExpressionKind::And: return "AND";
    case ExpressionKind::Or: return "OR";
    case ExpressionKind::Concat: return "||";
    default: return nullptr;
  }
}

const char* test_of(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::IsNull: return "IS NULL";
    case ExpressionKind::IsNotNull: return "IS NOT NULL";
    case ExpressionKind::IsTrue: return "IS TRUE";
    case ExpressionKind::IsNotTrue: return "IS NOT TRUE";
    case ExpressionKind::IsFalse: return "IS FALSE";
    case ExpressionKind::IsNotFalse: return "IS NOT FALSE";
    default: return nullptr;
  }
}

const char* function_name_of(ExpressionKind kind) {
  switch (kind) {
    case ExpressionKind::Coalesce: return "coalesce";
    case ExpressionKind::NullIf: return "nullif";
    case ExpressionKind::Greatest: return "greatest";
    case ExpressionKind::Least: return "least";
    default: return nullptr;
  }
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += c;
  }
  return result + "'";
}

std::string constant_text(const Value& value) {
  if (value.is_null()) return "NULL";
  const Type& type = value.type();
  if (type.is_string()) return quoted(value.as_string());
  if (type.id == TypeId::Boolean) return value.as_boolean() ? "true" : "false";
  if (type.is_temporal()) return (type.id == TypeId::Date ? "date " : "timestamp ") + quoted(value.to_text());
  if (type.id == TypeId::Interval) return "interval " + quoted(value.to_text());
  return value.to_text();
}

class TextWriter {
 public:
  explicit TextWriter(const std::vector<BoundColumn>& columns) : columns_(columns) {}

  std::string text(const Expression& e) const {
    if (const char* symbol = symbol_of(e.kind)) return "(" + joined(e, 0, std::string(" ") + symbol + " ") + ")";
    if (const char* test = test_of(e.kind)) return "(" + text(*e.args[0]) + " " + test + ")";
    if (const char* name = function_name_of(e.kind)) return name + ("(" + joined(e, 0, ", ") + ")");
    switch (e.kind) {
      case ExpressionKind::Constant: return constant_text(e.value);
      case ExpressionKind::Column: return column(e.column);
      case ExpressionKind::Parameter: return e.args.empty() ? "$" + std::to_string(e.index + 1) : text(*e.args[0]);
      case ExpressionKind::Negate: return "(- " + text(*e.args[0]) + ")";
      case ExpressionKind::Not: return "(NOT " + text(*e.args[0]) + ")";
      case ExpressionKind::In: return "(" + text(*e.args[0]) + " IN (" + joined(e, 1, ", ") + "))";
      case ExpressionKind::Case: return case_text(e);
      case ExpressionKind::Cast: return text(*e.args[0]) + "::" + e.type.name();
      case ExpressionKind::Call: return call_text(e);
      default: return "?";
    }
  }

 private:
  std::string column(ColumnId id) const {
    const size_t place = place_of(id, columns_);
    return place < columns_.size() ? columns_[place].name : "#" + std::to_string(static_cast<uint32_t>(id));
  }

  std::string joined(const Expression& e, size_t first, const std::string& separator) const {
    std::string result;
    for (size_t i = first; i < e.args.size(); ++i) result += (i == first ? "" : separator) + text(*e.args[i]);
    return result;
  }

  std::string case_text(const Expression& e) const {
    std::string result = "CASE";
    for (size_t i = 0; i + 1 < e.args.size(); i += 2) {
      result += " WHEN " + text(*e.args[i]) + " THEN " + text(*e.args[i + 1]);
    }
    return result + " ELSE " + text(*e.args.back()) + " END";
  }

  std::string call_text(const Expression& e) const {
    const std::string name = info_of(e.function).sql_name;
    const bool is_symbol = name.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
    if (is_symbol && e.args.size() == 2) return "(" + joined(e, 0, " " + name + " ") + ")";
    if (is_symbol && e.args.size() == 1) return "(" + name + " " + text(*e.args[0]) + ")";
    return name + "(" + joined(e, 0, ", ") + ")";
  }

  const std::vector<BoundColumn>& columns_;
};

}  // namespace

size_t place_of(ColumnId id, const std::vector<BoundColumn>& columns) {
  size_t place = 0;
  while (place < columns.size() && columns[place].id != id) ++place;
  return place;
}

// What hangs below the children moves up and becomes children, too, so that no destructor waits for another.
Expression::~Expression() {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i] || args[i]->args.empty()) continue;
    std::vector<ExpressionPtr> below = std::move(args[i]->args);
    args[i]->args.clear();
    std::move(below.begin(), below.end(), std::back_inserter(args));
  }
}

std::unique_ptr<Expression> Expression::clone() const {
  auto copy = std::make_unique<Expression>();
  copy->kind = kind;
  copy->type = type;
  copy->position = position;
  copy->value = value;
  copy->index = index;
  copy->column = column;
  copy->function = function;
  copy->args.reserve(args.size());
  for (const auto& arg : args) copy->args.push_back(arg->clone());
  return copy;
}

bool Expression::equals(const Expression& other) const {
  if (kind != other.kind || type != other.type || index != other.index || function != other.function) return false;
  if (column != other.column) return false;
  if (args.size() != other.args.size() || !(value == other.value)) return false;
  return std::equal(args.begin(), args.end(), other.args.begin(),
                    [](const auto& a, const auto& b) { return a->equals(*b); });
}

std::string Expression::to_text(const std::vector<BoundColumn>& columns) const {
  return TextWriter(columns).text(*this);
}

ExpressionPtr column_expression(ColumnId id, const Type& type, int position) {
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Column;
  result->type = type;
  result->position = position;
  result->column = id;
  return result;
}

const char* name_of(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::CountStar:
    case AggregateFunction::Count: return "count";
    case AggregateFunction::Sum: return "sum";
    case AggregateFunction::Min: return "min";
    case AggregateFunction::Max: return "max";
    case AggregateFunction::Avg: return "avg";
    case AggregateFunction::StddevSamp: return "stddev_samp";
    case AggregateFunction::StddevPop: return "stddev_pop";
    case AggregateFunction::VarSamp: return "var_samp";
    case AggregateFunction::VarPop: return "var_pop";
    case AggregateFunction::BoolAnd: return "bool_and";
    case AggregateFunction::BoolOr: return "bool_or";
  }
  throw Error(SqlState::internal_error, "invariant broken: an aggregate function is a known one");
}

void set_positions(Expression& e, int position) {
  e.position = position;
  for (const ExpressionPtr& arg : e.args) set_positions(*arg, position);
}

}  // namespace diptych
