#include "plan/sampled_truth.h"

#include <algorithm>

#include "kernel/kernel.h"
#include "plan/conditions.h"
#include "plan/scan_column.h"
#include "tablet/statistics/source_statistics.h"

namespace diptych {

namespace {

using Kind = ExpressionKind;
using Truths = std::vector<Truth>;

// Each part looks at all sampled rows: more take longer than the plan may.
constexpr size_t most_parts = 64;

Truth truth(bool is_true) { return is_true ? Truth::True : Truth::False; }

template <typename T>
bool compares(Kind kind, const T& a, const T& b) {
  switch (kind) {
    case Kind::Eq: return a == b;
    case Kind::Neq: return a != b;
    case Kind::Lt: return a < b;
    case Kind::Le: return a <= b;
    case Kind::Gt: return a > b;
    default: return a >= b;
  }
}

// Strings of all types are compared as they are kept; others only with their like.
bool compares_as_sampled(const Type& a, const Type& b) {
  return (a.is_string() && b.is_string()) || (a.id == b.id && a.scale == b.scale);
}

template <typename T>
Truths compare_each(Kind kind, const std::vector<T>& values, const std::vector<uint8_t>& is_null, const T& constant) {
  Truths truths(is_null.size());
  for (size_t i = 0; i < truths.size(); ++i)
    truths[i] = is_null[i] != 0 ? Truth::Unknown : truth(compares(kind, values[i], constant));
  return truths;
}

Truths compare_with_constant(Kind kind, const SampledColumn& column, const SampledValue& constant) {
  if (const double* number = std::get_if<double>(&constant))
    return compare_each(kind, column.numbers, column.is_null, *number);
  return compare_each(kind, column.texts, column.is_null, std::string(std::get<std::string_view>(constant)));
}

// nullopt: a sample can't tell.
std::optional<Truths> compare_with(Kind kind, const SampledColumn& column, const Type& type, const Value& constant) {
  if (constant.is_null()) return Truths(column.is_null.size(), Truth::Unknown);
  const auto value = sampled_value(constant, type);
  if (!value) return std::nullopt;
  return compare_with_constant(kind, column, *value);
}

template <typename T>
Truths compare_pairs(Kind kind, const std::vector<T>& a, const std::vector<T>& b) {
  Truths truths(a.size());
  for (size_t i = 0; i < truths.size(); ++i) truths[i] = truth(compares(kind, a[i], b[i]));
  return truths;
}

Truths compare_columns(Kind kind, const SampledColumn& a, const SampledColumn& b) {
  Truths truths = a.texts.empty() ? compare_pairs(kind, a.numbers, b.numbers) : compare_pairs(kind, a.texts, b.texts);
  for (size_t i = 0; i < truths.size(); ++i)
    if (a.is_null[i] != 0 || b.is_null[i] != 0) truths[i] = Truth::Unknown;
  return truths;
}

// deciding: False for AND, True for OR.
void combine(Truths& truths, const Truths& others, Truth deciding) {
  for (size_t i = 0; i < truths.size(); ++i) {
    if (truths[i] == deciding) continue;
    if (others[i] == deciding || others[i] == Truth::Unknown) truths[i] = others[i];
  }
}

}  // namespace

std::optional<SampledValue> sampled_value(const Value& constant, const Type& column) {
  if (constant.is_null() || !compares_as_sampled(column, constant.type())) return std::nullopt;
  if (column.is_string()) return std::string_view(constant.as_string()).substr(0, SampledColumn::most_text_bytes);
  if (column.id == TypeId::Boolean) return constant.as_boolean() ? 1.0 : 0.0;
  if (column.id == TypeId::Interval) return sampled_number(constant.as_interval());
  if (column.is_float()) return sampled_number(constant.as_double());
  return sampled_number(constant.as_integral());
}

const SampledColumn* SampledTruth::column(const Expression& e) {
  if (e.kind != Kind::Column) return nullptr;
  const ScanColumn place = scan_column(op_, e.column);
  if (place.scan == nullptr || (scan_ != nullptr && scan_ != place.scan)) return nullptr;
  const SourceStatistics* statistics = statistics_of(*place.scan);
  const SampledColumn* sampled = statistics == nullptr ? nullptr : statistics->sampled(place.number);
  if (sampled != nullptr) scan_ = place.scan;
  return sampled;
}

std::optional<Truths> SampledTruth::of(const Expression& condition) {
  switch (condition.kind) {
    case Kind::Column: return of_column(condition);
    case Kind::In: return membership(condition);
    case Kind::Call: return matching(condition);
    case Kind::IsNull:
    case Kind::IsNotNull: return null_test(condition);
    case Kind::Not: return negation(condition);
    case Kind::And:
    case Kind::Or: return combination(condition);
    default: return is_comparison(condition.kind) ? comparison(condition) : std::nullopt;
  }
}

std::optional<Truths> SampledTruth::of_column(const Expression& condition) {
  const SampledColumn* sampled = column(condition);
  if (sampled == nullptr) return std::nullopt;
  return compare_with_constant(Kind::Eq, *sampled, 1.0);
}

std::optional<Truths> SampledTruth::comparison(const Expression& condition) {
  const Expression &left = *condition.args[0], &right = *condition.args[1];
  const SampledColumn* a = column(left);
  if (a == nullptr) return std::nullopt;
  if (has_value(right)) return compare_with(condition.kind, *a, left.type, right.value);
  const SampledColumn* b = column(right);
  if (b == nullptr || !compares_as_sampled(left.type, right.type)) return std::nullopt;
  return compare_columns(condition.kind, *a, *b);
}

std::optional<Truths> SampledTruth::membership(const Expression& condition) {
  const SampledColumn* sampled = column(*condition.args[0]);
  if (sampled == nullptr) return std::nullopt;
  std::vector<SampledValue> members;
  bool has_null = false;
  for (size_t i = 1; i < condition.args.size(); ++i) {
    const Expression& member = *condition.args[i];
    if (!has_value(member)) return std::nullopt;
    const auto value = sampled_value(member.value, condition.args[0]->type);
    if (!value && !member.value.is_null()) return std::nullopt;
    has_null = has_null || !value;
    if (value) members.push_back(*value);
  }
  std::sort(members.begin(), members.end());
  Truths truths(sampled->is_null.size(), Truth::Unknown);
  for (size_t i = 0; i < truths.size(); ++i) {
    if (sampled->is_null[i] != 0) continue;
    const SampledValue value =
        sampled->texts.empty() ? SampledValue(sampled->numbers[i]) : std::string_view(sampled->texts[i]);
    const bool is_there = std::binary_search(members.begin(), members.end(), value);
    truths[i] = !is_there && has_null ? Truth::Unknown : truth(is_there);
  }
  return truths;
}

// column LIKE pattern. Texts are cut, and what is behind their ends is taken not to matter.
std::optional<Truths> SampledTruth::matching(const Expression& condition) {
  const bool is_like = condition.function == FunctionId::like_text;
  if (!is_like && condition.function != FunctionId::ilike_text) return std::nullopt;
  const SampledColumn* sampled = column(*condition.args[0]);
  const Expression& pattern = *condition.args[1];
  if (sampled == nullptr || !has_value(pattern)) return std::nullopt;
  Truths truths(sampled->is_null.size(), Truth::Unknown);
  if (pattern.value.is_null()) return truths;
  const auto like = is_like ? dk_like_text : dk_ilike_text;
  dk_i32 error = 0;
  for (size_t i = 0; i < truths.size(); ++i) {
    if (sampled->is_null[i] != 0) continue;
    truths[i] = truth(like(dk_text_of(sampled->texts[i]), dk_text_of(pattern.value.as_string()), &error) != 0);
    if (error != 0) return std::nullopt;
  }
  return truths;
}

std::optional<Truths> SampledTruth::null_test(const Expression& condition) {
  const SampledColumn* sampled = column(*condition.args[0]);
  if (sampled == nullptr) return std::nullopt;
  Truths truths(sampled->is_null.size());
  for (size_t i = 0; i < truths.size(); ++i)
    truths[i] = truth((sampled->is_null[i] != 0) == (condition.kind == Kind::IsNull));
  return truths;
}

std::optional<Truths> SampledTruth::negation(const Expression& condition) {
  std::optional<Truths> truths = of(*condition.args[0]);
  if (!truths) return std::nullopt;
  for (Truth& one : *truths)
    if (one != Truth::Unknown) one = truth(one == Truth::False);
  return truths;
}

std::optional<Truths> SampledTruth::combination(const Expression& condition) {
  if (condition.args.size() > most_parts) return std::nullopt;
  const Truth deciding = condition.kind == Kind::And ? Truth::False : Truth::True;
  std::optional<Truths> truths;
  for (const ExpressionPtr& arg : condition.args) {
    std::optional<Truths> one = of(*arg);
    if (!one) return std::nullopt;
    if (truths)
      combine(*truths, *one, deciding);
    else
      truths = std::move(one);
  }
  return truths;
}

}  // namespace diptych
