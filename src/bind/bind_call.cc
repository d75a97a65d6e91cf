#include <algorithm>
#include <cmath>
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

// PostgreSQL has another name for ON where it refuses aggregates.
std::string place_of_aggregate(const std::string& clause) { return clause == "JOIN/ON" ? "JOIN conditions" : clause; }

// Functions of PostgreSQL.
constexpr std::string_view functions_not_there[] = {
    "acosd",
    "acosh",
    "array_agg",
    "array_append",
    "array_cat",
    "array_dims",
    "array_fill",
    "array_length",
    "array_lower",
    "array_ndims",
    "array_position",
    "array_positions",
    "array_prepend",
    "array_remove",
    "array_replace",
    "array_to_json",
    "array_to_string",
    "array_upper",
    "asind",
    "asinh",
    "atan2d",
    "atand",
    "atanh",
    "bit_and",
    "bit_count",
    "bit_or",
    "bit_xor",
    "cardinality",
    "clock_timestamp",
    "col_description",
    "concat_ws",
    "convert",
    "convert_from",
    "convert_to",
    "corr",
    "cosd",
    "cosh",
    "cotd",
    "covar_pop",
    "covar_samp",
    "cume_dist",
    "current_database",
    "current_query",
    "current_schema",
    "current_schemas",
    "current_setting",
    "currval",
    "date_bin",
    "decode",
    "dense_rank",
    "encode",
    "factorial",
    "first_value",
    "format",
    "gen_random_uuid",
    "get_bit",
    "get_byte",
    "json_agg",
    "json_array_elements",
    "json_array_length",
    "json_build_array",
    "json_build_object",
    "json_each",
    "json_extract_path",
    "json_extract_path_text",
    "json_object",
    "json_object_agg",
    "json_object_keys",
    "json_populate_record",
    "json_strip_nulls",
    "json_to_record",
    "json_typeof",
    "jsonb_agg",
    "jsonb_array_elements",
    "jsonb_array_length",
    "jsonb_build_array",
    "jsonb_build_object",
    "jsonb_each",
    "jsonb_extract_path",
    "jsonb_extract_path_text",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_object_agg",
    "jsonb_object_keys",
    "jsonb_path_query",
    "jsonb_pretty",
    "jsonb_set",
    "jsonb_strip_nulls",
    "jsonb_typeof",
    "justify_interval",
    "lag",
    "last_value",
    "lastval",
    "lead",
    "make_time",
    "make_timestamptz",
    "md5",
    "min_scale",
    "mode",
    "nextval",
    "normalize",
    "nth_value",
    "ntile",
    "num_nonnulls",
    "num_nulls",
    "obj_description",
    "overlay",
    "parse_ident",
    "percent_rank",
    "percentile_cont",
    "percentile_disc",
    "pg_client_encoding",
    "pg_sleep",
    "pg_typeof",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "random",
    "range_agg",
    "rank",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "regexp_match",
    "regexp_matches",
    "regexp_replace",
    "regexp_split_to_array",
    "regexp_split_to_table",
    "regexp_substr",
    "regr_avgx",
    "regr_avgy",
    "regr_count",
    "regr_intercept",
    "regr_r2",
    "regr_slope",
    "regr_sxx",
    "regr_sxy",
    "regr_syy",
    "row_number",
    "row_to_json",
    "scale",
    "set_bit",
    "set_byte",
    "set_config",
    "setseed",
    "setval",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "similar_escape",
    "sind",
    "sinh",
    "statement_timestamp",
    "string_agg",
    "string_to_array",
    "string_to_table",
    "tand",
    "tanh",
    "timeofday",
    "timezone",
    "to_ascii",
    "to_char",
    "to_date",
    "to_json",
    "to_jsonb",
    "to_number",
    "to_timestamp",
    "to_tsquery",
    "to_tsvector",
    "transaction_timestamp",
    "trim_array",
    "trim_scale",
    "txid_current",
    "unistr",
    "unnest",
    "version",
    "width_bucket",
    "xmlagg",
};

constexpr const char* table_functions[] = {"generate_series", "read_csv", "read_parquet"};

std::optional<AggregateFunction> find_aggregate(const std::string& name) {
  for (const AggregateName& row : aggregate_names)
    if (name == row.name) return row.function;
  return std::nullopt;
}

[[noreturn]] void undefined_function(const std::string& name, const std::vector<ExpressionPtr>& args, int position) {
  const auto is_name = [&](std::string_view other) { return name == other; };
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

// Whether the field has no end: of an infinite date it is infinite, too. The others come round again and again.
bool grows_with_date(const std::string& field) {
  for (const char* name : {"year", "decade", "century", "millennium", "isoyear", "julian", "epoch"})
    if (field == name) return true;
  return false;
}

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

// date(x) is a cast, as in PostgreSQL, where every type's own name is a function, too.
bool is_cast_name(const std::string& name) {
  constexpr std::string_view names[] = {"bool", "int2",      "int4",     "int8", "float4",  "float8", "numeric",
                                        "date", "timestamp", "interval", "text", "varchar", "bpchar"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// substring(text from pattern), substring(text similar pattern escape character): what strings or untyped literals
// after the text mean by PostgreSQL's rules, where (text, text) and (text, text, text) are overloads, too.
bool is_pattern_substring(const std::string& name, const std::vector<ExpressionPtr>& args) {
  if (name != "substring" || args.size() < 2 || args.size() > 3) return false;
  if (!is_unknown(*args[0]) && !args[0]->type.is_string()) return false;
  const auto is_string = [](const ExpressionPtr& arg) { return arg->type.is_string(); };
  const auto is_untyped = [](const ExpressionPtr& arg) { return is_unknown(*arg); };
  const auto is_null = [](const ExpressionPtr& arg) { return is_null_constant(*arg); };
  const auto first = args.begin() + 1;
  if (std::any_of(first, args.end(), is_string)) return true;
  return std::all_of(first, args.end(), is_untyped) && !std::all_of(first, args.end(), is_null);
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
    throw Error(SqlState::grouping_error, "aggregate functions are not allowed in " + place_of_aggregate(clause_),
                position);
  BoundAggregate call;
  call.position = position;
  call.distinct = node.distinct;
  inside_aggregate_ = true;
  std::vector<ExpressionPtr> args = bind_all(node.args);
  if (node.filter) call.filter = condition(bind(*node.filter), "FILTER");
  inside_aggregate_ = false;
  const bool counts_rows = function == AggregateFunction::Count && node.star;
  if (function == AggregateFunction::Count && !node.star && args.empty()) {
    throw Error(SqlState::wrong_object_type, "count(*) must be used to call a parameterless aggregate function",
                position);
  }
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
  if (known == aggregates_->end()) {
    call.id = state_.new_column();
    known = aggregates_->insert(known, std::move(call));
  }
  return column_expression(known->id, known->type, position);
}

ExpressionPtr ExpressionBinder::scalar_call(const syntax::Call& node, std::vector<ExpressionPtr> args, int position) {
  if ((node.name == "extract" || node.name == "date_part") && args.size() == 2)
    return date_field(node.name, std::move(args), position);
  if (node.name == "date_trunc" && args.size() == 2) return truncate_date(std::move(args), position);
  if (node.name == "concat") return concat_function(std::move(args), position);
  if (node.name == "now" && args.empty())
    return bind_node(syntax::CurrentTime{syntax::CurrentTime::Kind::Timestamp, node.name}, position);
  if (is_pattern_substring(node.name, args)) {
    throw Error(SqlState::feature_not_supported, "substring with a pattern is not supported yet", position);
  }
  // Names with a blank or symbol in them are operators of the table, extract_year and the like its own.
  const bool is_internal = node.name == "cast" || node.name == "assign" || node.name == "like" ||
                           node.name == "ilike" || node.name.starts_with("extract_") ||
                           node.name.starts_with("date_trunc_") || node.name.starts_with("internal_");
  if (node.name == "octet_length" && args.size() == 1) args[0] = with_blanks(std::move(args[0]));
  if (!is_internal) {
    if (ExpressionPtr call = resolve_call(node.name, args, position, state_.parameters)) return call;
  }
  if (args.size() == 1 && is_cast_name(node.name)) {
    const Type to = type_of({node.name, {}, position});
    if (is_castable(args[0]->type.id, to.id, CastContext::Explicit))
      return coerce(std::move(args[0]), to, CastContext::Explicit, state_.parameters);
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
  if (is_unknown(*args[1])) {
    throw Error(SqlState::ambiguous_function, "function " + name + "(unknown, unknown) is not unique", position,
                "Could not choose a best candidate function. You might need to add explicit type casts.");
  }
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
  const bool as_double = name == "date_part";
  ExpressionPtr date = call->args[0]->clone();
  if (as_double)
    call = coerced(std::move(call), {TypeId::Double});
  else if (call->type.id != TypeId::Numeric)
    call = coerced(std::move(call), Type::numeric(max_int64_precision, 0));
  if (source.id == TypeId::Interval || (!as_double && grows_with_date(field))) return call;
  return field_or_infinity(std::move(call), std::move(date), grows_with_date(field));
}

// The field of a date that is finite. Of infinity a field is NULL, or infinite if it `grows` with the date.
ExpressionPtr ExpressionBinder::field_or_infinity(ExpressionPtr field, ExpressionPtr date, bool grows) {
  const int position = field->position;
  const Type type = field->type;
  auto result = make_expression(ExpressionKind::Case, type, position);
  std::vector<ExpressionPtr> args;
  args.push_back(date->clone());
  result->args.push_back(resolve_call("isfinite", args, position, state_.parameters));
  result->args.push_back(std::move(field));
  for (const double infinity : {HUGE_VAL, -HUGE_VAL}) {
    if (!grows) break;
    ExpressionPtr day_0 = make_constant(Value::integral(date->type, 0), position);
    result->args.push_back(
        compare(infinity > 0 ? ExpressionKind::Gt : ExpressionKind::Lt, "", date->clone(), std::move(day_0), position));
    result->args.push_back(make_constant(Value::floating(type, infinity), position));
  }
  result->args.push_back(make_constant(Value::null(type), position));
  return result;
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
