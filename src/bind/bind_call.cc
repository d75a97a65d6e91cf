#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/suggestion.h"
#include "bind/expression_binder.h"
#include "bind/function_resolution.h"

namespace diptych {

namespace {

struct AggregateName {
  const char* name;
  AggregateFunction function;
};

constexpr AggregateName aggregate_names[] = {
    {"count", AggregateFunction::Count},
    {"sum", AggregateFunction::Sum},
    {"min", AggregateFunction::Min},
    {"max", AggregateFunction::Max},
    {"avg", AggregateFunction::Avg},
    {"stddev", AggregateFunction::StddevSamp},
    {"stddev_samp", AggregateFunction::StddevSamp},
    {"stddev_pop", AggregateFunction::StddevPop},
    {"variance", AggregateFunction::VarSamp},
    {"var_samp", AggregateFunction::VarSamp},
    {"var_pop", AggregateFunction::VarPop},
    {"bool_and", AggregateFunction::BoolAnd},
    {"every", AggregateFunction::BoolAnd},
    {"bool_or", AggregateFunction::BoolOr},
};

constexpr const char* functions_not_there[] = {
    "string_agg",
    "array_agg",
    "json_agg",
    "jsonb_agg",
    "json_object_agg",
    "bit_and",
    "bit_or",
    "bit_xor",
    "corr",
    "covar_pop",
    "covar_samp",
    "regr_slope",
    "regr_intercept",
    "regr_r2",
    "regr_count",
    "regr_avgx",
    "regr_avgy",
    "percentile_cont",
    "percentile_disc",
    "mode",
    "row_number",
    "rank",
    "dense_rank",
    "percent_rank",
    "cume_dist",
    "ntile",
    "lag",
    "lead",
    "first_value",
    "last_value",
    "nth_value",
    "overlay",
    "regexp_replace",
    "regexp_match",
    "regexp_matches",
    "to_char",
    "to_date",
    "to_timestamp",
    "to_number",
    "random",
    "unnest",
    "xmlagg",
};

constexpr const char* table_functions[] = {"generate_series", "read_csv", "read_parquet"};

std::optional<AggregateFunction> find_aggregate(const std::string& name) {
  for (const AggregateName& row : aggregate_names)
    if (name == row.name) return row.function;
  return std::nullopt;
}

[[noreturn]] void undefined_function(const std::string& name, const std::vector<ExpressionPtr>& args, int position) {
  const auto is_name = [&](const char* other) { return name == other; };
  if (std::any_of(std::begin(functions_not_there), std::end(functions_not_there), is_name)) {
    throw Error(SqlState::feature_not_supported, "function " + name + " is not supported yet", position);
  }
  if (std::any_of(std::begin(table_functions), std::end(table_functions), is_name)) {
    throw Error(SqlState::feature_not_supported, name + " is only supported in FROM", position);
  }
  std::vector<std::string> names;
  for (const std::string_view known : function_names()) names.emplace_back(known);
  for (const AggregateName& row : aggregate_names) names.emplace_back(row.name);
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  throw Error(SqlState::undefined_function, "function " + call_signature(name, args, false) + " does not exist",
              position,
              known ? "No function of this name takes these argument types. You might need to add explicit type casts."
                    : suggest(name, names));
}

// Result type of an aggregate over an argument of this type; nothing when it can't take one.
std::optional<Type> aggregate_type(AggregateFunction function, const Type& argument) {
  const bool exact = argument.is_integer() || argument.id == TypeId::Numeric;
  switch (function) {
    case AggregateFunction::CountStar:
    case AggregateFunction::Count: return Type{TypeId::BigInt};
    case AggregateFunction::Sum:
      if (argument.id == TypeId::SmallInt || argument.id == TypeId::Integer) return Type{TypeId::BigInt};
      if (argument.is_float()) return argument;
      if (exact) return Type::numeric(max_precision, argument.scale);
      return std::nullopt;
    case AggregateFunction::Min:
    case AggregateFunction::Max:
      if (argument.id == TypeId::Boolean) return std::nullopt;
      return argument.id == TypeId::Varchar ? Type{TypeId::Text} : argument;
    case AggregateFunction::Avg:
    case AggregateFunction::StddevSamp:
    case AggregateFunction::StddevPop:
    case AggregateFunction::VarSamp:
    case AggregateFunction::VarPop:
      if (argument.is_float()) return Type{TypeId::Double};
      if (exact) return Type::numeric(max_precision, std::max<int>(argument.scale, division_scale));
      return std::nullopt;
    case AggregateFunction::BoolAnd:
    case AggregateFunction::BoolOr:
      return argument.id == TypeId::Boolean ? std::optional(Type{TypeId::Boolean}) : std::nullopt;
  }
  return std::nullopt;
}

bool same(const ExpressionPtr& a, const ExpressionPtr& b) { return a && b ? a->equals(*b) : !a && !b; }

bool same_call(const BoundAggregate& a, const BoundAggregate& b) {
  return a.function == b.function && a.distinct == b.distinct && a.type == b.type && same(a.argument, b.argument) &&
         same(a.filter, b.filter);
}

// Averages and deviations of real are computed in double precision; min and max of varchar are text.
Type argument_type(AggregateFunction function, const Type& type) {
  const bool is_moment = function >= AggregateFunction::Avg && function <= AggregateFunction::VarPop;
  return is_moment && type.id == TypeId::Real ? Type{TypeId::Double} : type;
}

// A literal beside them could be any number.
bool takes_numbers(AggregateFunction function) {
  return function == AggregateFunction::Sum ||
         (function >= AggregateFunction::Avg && function <= AggregateFunction::VarPop);
}

const char* const fields_of_dates[] = {
    "year",   "month",   "day",   "hour",   "minute",  "second",     "quarter",      "week",         "dow",   "doy",
    "isodow", "isoyear", "epoch", "decade", "century", "millennium", "milliseconds", "microseconds", "julian"};

struct FieldAlias {
  const char* alias;
  const char* field;
};

constexpr FieldAlias field_aliases[] = {
    {"microsecond", "microseconds"},
    {"us", "microseconds"},
    {"usec", "microseconds"},
    {"millisecond", "milliseconds"},
    {"ms", "milliseconds"},
    {"msec", "milliseconds"},
    {"sec", "second"},
    {"min", "minute"},
    {"hr", "hour"},
    {"mon", "month"},
    {"qtr", "quarter"},
    {"yr", "year"},
    {"dec", "decade"},
    {"cent", "century"},
    {"centuries", "century"},
    {"millennia", "millennium"},
};

// years, yr -> year, as PostgreSQL takes them.
std::string field_name(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const bool known =
      std::find(std::begin(fields_of_dates), std::end(fields_of_dates), name) != std::end(fields_of_dates);
  const auto alias_of = [](const std::string& given) {
    return std::find_if(std::begin(field_aliases), std::end(field_aliases),
                        [&](const FieldAlias& row) { return given == row.alias; });
  };
  const bool is_alias = alias_of(name) != std::end(field_aliases);
  if (!known && !is_alias && name.size() > 1 && name.back() == 's') name.pop_back();
  const auto* alias = alias_of(name);
  return alias == std::end(field_aliases) ? name : alias->field;
}

// concat's form of a boolean is that of output, t and f, where a cast to text writes true and false; NULL is nothing.
ExpressionPtr boolean_in_concat(ExpressionPtr e) {
  const int position = e->position;
  auto negated = make_expression(ExpressionKind::Not, {TypeId::Boolean}, position);
  negated->args.push_back(e->clone());
  auto result = make_expression(ExpressionKind::Case, {TypeId::Text}, position);
  result->args.push_back(std::move(e));
  result->args.push_back(make_constant(Value::text("t"), position));
  result->args.push_back(std::move(negated));
  result->args.push_back(make_constant(Value::text("f"), position));
  result->args.push_back(make_constant(Value::text(""), position));
  return result;
}

}  // namespace

ExpressionPtr ExpressionBinder::bind_node(const syntax::Call& node, int position) {
  if (const std::optional<AggregateFunction> function = find_aggregate(node.name))
    return aggregate(node, *function, position);
  if (std::any_of(node.argument_names.begin(), node.argument_names.end(),
                  [](const std::string& name) { return !name.empty(); })) {
    throw Error(SqlState::feature_not_supported, "named arguments are only supported in read_csv and read_parquet",
                position);
  }
  ExpressionPtr call = scalar_call(node, bind_all(node.args), position);
  if (node.distinct || node.filter || node.star) {
    throw Error(SqlState::wrong_object_type,
                std::string(node.distinct ? "DISTINCT"
                            : node.filter ? "FILTER"
                                          : "*") +
                    " specified, but " + node.name + " is not an aggregate function",
                position);
  }
  return call;
}

ExpressionPtr ExpressionBinder::aggregate(const syntax::Call& node, AggregateFunction function, int position) {
  if (inside_aggregate_) throw Error(SqlState::grouping_error, "aggregate function calls cannot be nested", position);
  if (!aggregates_)
    throw Error(SqlState::grouping_error, "aggregate functions are not allowed in " + std::string(clause_), position);
  BoundAggregate call;
  call.position = position;
  call.distinct = node.distinct;
  inside_aggregate_ = true;
  std::vector<ExpressionPtr> args = bind_all(node.args);
  if (node.filter) call.filter = condition(bind(*node.filter), "FILTER");
  inside_aggregate_ = false;
  const bool counts_rows = function == AggregateFunction::Count && node.star;
  if (counts_rows ? !args.empty() : args.size() != 1) undefined_function(node.name, args, position);
  call.function = counts_rows ? AggregateFunction::CountStar : function;
  call.type = {TypeId::BigInt};
  if (!counts_rows) {
    const bool is_boolean = function == AggregateFunction::BoolAnd || function == AggregateFunction::BoolOr;
    // A literal is what the only such aggregate takes.
    if (is_boolean && is_unknown(*args[0])) args[0] = coerced(std::move(args[0]), {TypeId::Boolean});
    if (is_unknown(*args[0]) && takes_numbers(function)) {
      if (function == AggregateFunction::Sum || function == AggregateFunction::Avg)
        throw Error(SqlState::ambiguous_function, "function " + node.name + "(unknown) is not unique", position,
                    "Could not choose a best candidate function. You might need to add explicit type casts.");
      args[0] = coerced(std::move(args[0]), {TypeId::Double});
    }
    call.argument = settled(std::move(args[0]));
    const std::optional<Type> type = aggregate_type(function, call.argument->type);
    args[0] = call.argument->clone();
    if (!type) undefined_function(node.name, args, position);
    call.type = *type;
    const Type wanted = argument_type(function, call.argument->type);
    call.argument = coerced(std::move(call.argument), wanted);
    if (call.distinct && function == AggregateFunction::Count && call.argument->type.id == TypeId::Char)
      call.argument = without_blanks(std::move(call.argument));
  }
  auto known = std::find_if(aggregates_->begin(), aggregates_->end(),
                            [&](const BoundAggregate& other) { return same_call(call, other); });
  if (known == aggregates_->end()) known = aggregates_->insert(known, std::move(call));
  auto slot = make_expression(ExpressionKind::Column, known->type, position);
  slot->index = aggregate_slot(static_cast<size_t>(known - aggregates_->begin()));
  return slot;
}

ExpressionPtr ExpressionBinder::scalar_call(const syntax::Call& node, std::vector<ExpressionPtr> args, int position) {
  if ((node.name == "extract" || node.name == "date_part") && args.size() == 2)
    return date_field(node.name, std::move(args), position);
  if (node.name == "date_trunc" && args.size() == 2) return truncate_date(std::move(args), position);
  if (node.name == "concat") return concat_function(std::move(args), position);
  if (node.name == "now" && args.empty())
    return bind_node(syntax::CurrentTime{syntax::CurrentTime::Kind::Timestamp, node.name}, position);
  // Names with a blank or symbol in them are operators of the table, extract_year and the like its own.
  const bool is_internal = node.name == "cast" || node.name == "assign" || node.name == "like" ||
                           node.name == "ilike" || node.name.starts_with("extract_") ||
                           node.name.starts_with("date_trunc_") || node.name.starts_with("internal_");
  if (node.name == "octet_length" && args.size() == 1) args[0] = with_blanks(std::move(args[0]));
  if (!is_internal) {
    if (ExpressionPtr call = resolve_call(node.name, args, position, state_.parameters)) return call;
  }
  undefined_function(node.name, args, position);
}

// EXTRACT gives numeric, date_part double precision; the functions below them give whole numbers where that is all
// there is.
ExpressionPtr ExpressionBinder::date_field(const std::string& name, std::vector<ExpressionPtr> args, int position) {
  if (!is_constant(*args[0]) || args[0]->value.is_null() || !(is_unknown(*args[0]) || args[0]->type.is_string())) {
    throw Error(SqlState::feature_not_supported, name + " with a field that is not a literal is not supported yet",
                position);
  }
  const std::string field = field_name(args[0]->value.as_string());
  const int place = args[0]->position;
  if (is_unknown(*args[1])) args[1] = coerced(std::move(args[1]), {TypeId::Timestamp});
  const Type source = args[1]->type;
  args.erase(args.begin());
  if (!source.is_temporal() && source.id != TypeId::Interval) undefined_function(name, args, position);
  // A date has no hour, even though it could be cast to a timestamp.
  ExpressionPtr call;
  if (has_overload("extract_" + field, {source.id}))
    call = resolve_call("extract_" + field, args, position, state_.parameters);
  if (!call) {
    const bool known =
        std::find(std::begin(fields_of_dates), std::end(fields_of_dates), field) != std::end(fields_of_dates);
    if (known)
      throw Error(SqlState::feature_not_supported, "unit \"" + field + "\" is not supported for type " + source.name(),
                  place);
    std::vector<std::string> fields(std::begin(fields_of_dates), std::end(fields_of_dates));
    throw Error(SqlState::invalid_parameter_value, "unit \"" + field + "\" is not recognized for type " + source.name(),
                place, suggest(field, fields));
  }
  if (name == "date_part") return coerced(std::move(call), {TypeId::Double});
  return call->type.id == TypeId::Numeric ? std::move(call)
                                          : coerced(std::move(call), Type::numeric(max_int64_precision, 0));
}

ExpressionPtr ExpressionBinder::truncate_date(std::vector<ExpressionPtr> args, int position) {
  if (is_unknown(*args[1])) args[1] = coerced(std::move(args[1]), {TypeId::Timestamp});
  if (args[1]->type.id == TypeId::Date) args[1] = coerced(std::move(args[1]), {TypeId::Timestamp});
  const bool literal =
      is_constant(*args[0]) && !args[0]->value.is_null() && (is_unknown(*args[0]) || args[0]->type.is_string());
  if (literal && args[1]->type.id == TypeId::Timestamp) {
    const std::string field = field_name(args[0]->value.as_string());
    std::vector<ExpressionPtr> source;
    source.push_back(args[1]->clone());
    if (ExpressionPtr call = resolve_call("date_trunc_" + field, source, position, state_.parameters)) return call;
    throw Error(SqlState::invalid_parameter_value,
                "unit \"" + field + "\" is not recognized for type " + args[1]->type.name(), args[0]->position);
  }
  if (ExpressionPtr call = resolve_call("date_trunc", args, position, state_.parameters)) return call;
  undefined_function("date_trunc", args, position);
}

// concat(a, b, ...): anything as text, NULL as nothing.
ExpressionPtr ExpressionBinder::concat_function(std::vector<ExpressionPtr> args, int position) {
  if (args.empty()) undefined_function("concat", args, position);
  auto result = make_expression(ExpressionKind::Concat, {TypeId::Text}, position);
  for (ExpressionPtr& arg : args) {
    if (arg->type.id == TypeId::Boolean) {
      result->args.push_back(boolean_in_concat(std::move(arg)));
      continue;
    }
    arg = with_blanks(std::move(arg));
    auto part = make_expression(ExpressionKind::Coalesce, {TypeId::Text}, arg->position);
    part->args.push_back(coerce(std::move(arg), {TypeId::Text}, CastContext::Assignment, state_.parameters));
    part->args.push_back(make_constant(Value::text(""), position));
    result->args.push_back(std::move(part));
  }
  return result;
}

}  // namespace diptych
