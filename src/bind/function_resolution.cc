#include "bind/function_resolution.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "base/error.h"

namespace diptych {

namespace {

// One overload as SQL sees it: rows that differ only in the width of their numerics are one.
struct Candidate {
  std::vector<TypeId> arguments;
  std::optional<FunctionId> narrow;  // numerics in 64 bits, or no numerics
  std::optional<FunctionId> wide;    // numerics in 128 bits
};

bool uses(const FunctionInfo& info, FunctionType type) {
  const auto types = info.argument_types();
  return info.result == type || std::find(types.begin(), types.end(), type) != types.end();
}

std::vector<Candidate> candidates_of(const std::string& sql_name, size_t argument_count) {
  std::vector<Candidate> result;
  for (const FunctionId id : functions_named(sql_name)) {
    const FunctionInfo& info = info_of(id);
    if (info.argument_count != argument_count) continue;
    std::vector<TypeId> arguments;
    for (const FunctionType type : info.argument_types()) arguments.push_back(type_id_of(type));
    auto found =
        std::find_if(result.begin(), result.end(), [&](const Candidate& c) { return c.arguments == arguments; });
    if (found == result.end()) found = result.insert(result.end(), {arguments, {}, {}});
    (uses(info, FunctionType::NUMERIC128) ? found->wide : found->narrow) = id;
  }
  return result;
}

TypeId string_as_text(TypeId id) { return Type{id}.is_string() ? TypeId::Text : id; }

bool accepts(const Candidate& candidate, const std::vector<TypeId>& types) {
  for (size_t i = 0; i < types.size(); ++i)
    if (!is_castable(types[i], candidate.arguments[i], CastContext::Implicit)) return false;
  return true;
}

// Numbers, strings, dates: types of one category turn into its preferred type most readily.
enum class Category : uint8_t { Boolean, Number, String, DateTime, Interval };

Category category_of(TypeId id) {
  const Type type{id};
  if (type.is_number()) return Category::Number;
  if (type.is_string()) return Category::String;
  if (type.is_temporal()) return Category::DateTime;
  return id == TypeId::Interval ? Category::Interval : Category::Boolean;
}

bool is_preferred(TypeId id) {
  return id == TypeId::Double || id == TypeId::Text || id == TypeId::Boolean || id == TypeId::Interval;
}

// Keeps the candidates with the highest score.
template <typename Score>
void keep_best(std::vector<Candidate>& candidates, Score score) {
  int best = 0;
  for (const Candidate& candidate : candidates) best = std::max(best, score(candidate));
  std::erase_if(candidates, [&](const Candidate& candidate) { return score(candidate) < best; });
}

// What the unknown arguments at a place are taken for: strings when some candidate takes one there, else the one
// category that all candidates have there.
void resolve_unknowns(std::vector<Candidate>& candidates, const std::vector<TypeId>& types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] != TypeId::Null) continue;
    const auto takes_string = [&](const Candidate& c) { return category_of(c.arguments[i]) == Category::String; };
    if (std::any_of(candidates.begin(), candidates.end(), takes_string)) {
      std::erase_if(candidates, [&](const Candidate& c) { return !takes_string(c); });
      continue;
    }
    const Category category = category_of(candidates.front().arguments[i]);
    const bool one_category = std::all_of(candidates.begin(), candidates.end(),
                                          [&](const Candidate& c) { return category_of(c.arguments[i]) == category; });
    const auto preferred = [&](const Candidate& c) { return is_preferred(c.arguments[i]); };
    if (one_category && std::any_of(candidates.begin(), candidates.end(), preferred)) {
      std::erase_if(candidates, [&](const Candidate& c) { return !preferred(c); });
    }
  }
}

// The type all known arguments have, if there are known and unknown ones and they agree.
std::optional<TypeId> type_of_all_known(const std::vector<TypeId>& types) {
  std::optional<TypeId> known;
  bool any_unknown = false;
  for (const TypeId id : types) {
    if (id == TypeId::Null)
      any_unknown = true;
    else if (!known)
      known = id;
    else if (*known != id)
      return std::nullopt;
  }
  return any_unknown ? known : std::nullopt;
}

std::optional<Candidate> choose(std::vector<Candidate> candidates, const std::vector<TypeId>& types) {
  std::erase_if(candidates, [&](const Candidate& c) { return !accepts(c, types); });
  if (candidates.empty()) return std::nullopt;
  keep_best(candidates, [&](const Candidate& c) {
    int exact = 0;
    for (size_t i = 0; i < types.size(); ++i) exact += types[i] == c.arguments[i];
    return exact;
  });
  if (candidates.size() > 1) {
    keep_best(candidates, [&](const Candidate& c) {
      int score = 0;
      for (size_t i = 0; i < types.size(); ++i) {
        score += types[i] == c.arguments[i] || (types[i] != TypeId::Null && is_preferred(c.arguments[i]));
      }
      return score;
    });
  }
  if (candidates.size() > 1) resolve_unknowns(candidates, types);
  if (candidates.size() > 1) {
    if (const std::optional<TypeId> all = type_of_all_known(types)) {
      keep_best(candidates,
                [&](const Candidate& c) { return accepts(c, std::vector<TypeId>(types.size(), *all)) ? 1 : 0; });
    }
  }
  return candidates.size() == 1 ? std::optional(candidates.front()) : std::nullopt;
}

// Precision and scale of a numeric result from the flags of functions.def; `scale` is the largest of the numeric
// arguments.
Type numeric_result(const FunctionInfo& info, const std::vector<ExpressionPtr>& args) {
  int integer_digits = 0;
  int scale = 0;
  for (const ExpressionPtr& arg : args) {
    if (arg->type.id != TypeId::Numeric) continue;
    integer_digits = std::max(integer_digits, arg->type.precision - arg->type.scale);
    scale = std::max<int>(scale, arg->type.scale);
  }
  const int rounded_digits = integer_digits + 1;  // 9.5 has one digit before the point, round(9.5) two
  const int widest = info.result == FunctionType::NUMERIC64 && args.size() == 1 && integer_digits == 0
                         ? max_int64_precision
                         : max_precision;
  if (info.has_flag(DK_SCALE_0)) return numeric_of_digits(rounded_digits, 0);
  if (info.has_flag(DK_SCALE_3)) return Type::numeric(widest, 3);
  if (info.has_flag(DK_SCALE_6)) return Type::numeric(widest, 6);
  if (info.has_flag(DK_SCALE_20)) return Type::numeric(widest, 20);
  if (info.has_flag(DK_SCALE_DIVISION)) {
    // A logarithm has two digits before the point.
    const int most = info.has_flag(DK_HOST) ? max_precision - 2 : max_precision;
    return Type::numeric(max_precision, std::clamp(scale, division_scale, most));
  }
  if (info.has_flag(DK_SCALE_DIGITS)) {
    const Expression& digits = *args[1];
    if (is_constant(digits) && !digits.value.is_null()) {
      const int128_t wanted = digits.value.as_integral();
      scale = wanted < 0 ? 0 : wanted > max_precision ? max_precision : static_cast<int>(wanted);
    }
    return numeric_of_digits(rounded_digits, scale);
  }
  return numeric_of_digits(integer_digits, scale);
}

// Casts the arguments as the row wants its numerics: to one scale, and to 128 bits where they are.
void fit_numerics(const FunctionInfo& info, std::vector<ExpressionPtr>& args, ParameterTypes& parameters) {
  int scale = 0;
  for (const ExpressionPtr& arg : args) scale = std::max<int>(scale, arg->type.scale);
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i]->type.id != TypeId::Numeric) continue;
    Type to = args[i]->type;
    if (info.has_flag(DK_SCALE_COMMON)) to = numeric_of_digits(to.precision - to.scale, scale);
    if (info.arguments[i] == FunctionType::NUMERIC128 && to.precision <= max_int64_precision)
      to.precision = max_int64_precision + 1;
    args[i] = coerce(std::move(args[i]), to, CastContext::Explicit, parameters);
  }
}

bool fits_narrow(const FunctionInfo& info, const std::vector<ExpressionPtr>& args) {
  const auto is_wide = [](const Type& type) {
    return type.id == TypeId::Numeric && type.precision > max_int64_precision;
  };
  if (std::any_of(args.begin(), args.end(), [&](const ExpressionPtr& arg) { return is_wide(arg->type); })) return false;
  return type_id_of(info.result) != TypeId::Numeric || !is_wide(numeric_result(info, args));
}

Type result_type(const FunctionInfo& info, const std::vector<ExpressionPtr>& args) {
  const TypeId id = type_id_of(info.result);
  if (id != TypeId::Numeric) return {id};
  Type result = numeric_result(info, args);
  if (info.result == FunctionType::NUMERIC128 && result.precision <= max_int64_precision)
    result.precision = max_int64_precision + 1;
  return result;
}

std::optional<double> constant_value(const Expression& e) {
  if (!is_constant(e) || e.value.is_null()) return std::nullopt;
  return static_cast<double>(e.value.as_integral()) / std::pow(10.0, e.type.scale);
}

// exp and power of constants: 38 digits go round, of which at least 16 say something as far as there is room.
Type fit_to_value(FunctionId id, const std::vector<ExpressionPtr>& args, Type type) {
  if (id != FunctionId::exp_n128 && id != FunctionId::power_n128) return type;
  const std::optional<double> first = constant_value(*args.front()), last = constant_value(*args.back());
  if (!first || !last) return type;
  constexpr double log10_of_e = 0.43429448190325182;
  const double exponent = id == FunctionId::exp_n128  ? *first * log10_of_e
                          : *last == 0 || *first == 0 ? 0
                                                      : *last * std::log10(std::abs(*first));
  if (!(std::abs(exponent) <= max_precision)) return type;
  const int digits = static_cast<int>(std::floor(exponent + 1e-9)) + 1;  // before the point; below 1: zeros after it
  const int scale = digits > 0 ? std::min<int>(type.scale, max_precision - digits) : type.scale - digits;
  return Type::numeric(max_precision, std::clamp(scale, 0, max_precision));
}

}  // namespace

ExpressionPtr resolve_call(const std::string& sql_name, std::vector<ExpressionPtr>& args, int position,
                           ParameterTypes& parameters) {
  std::vector<Candidate> candidates = candidates_of(sql_name, args.size());
  if (candidates.empty()) return nullptr;
  std::vector<TypeId> types;
  for (const ExpressionPtr& arg : args) types.push_back(string_as_text(arg->type.id));
  const bool any_fits =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return accepts(c, types); });
  if (!any_fits) return nullptr;
  const std::optional<Candidate> chosen = choose(std::move(candidates), types);
  if (!chosen) {
    throw Error(SqlState::ambiguous_function, "call of " + sql_name + " is not unique for these types", position,
                "Could not choose a best candidate. You might need to add explicit type casts.");
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const TypeId wanted = chosen->arguments[i];
    if (wanted == TypeId::Text && args[i]->type.is_string()) {
      if (args[i]->type.id == TypeId::Char) args[i] = without_blanks(std::move(args[i]));
      continue;
    }
    if (wanted == TypeId::Numeric && !is_unknown(*args[i]))
      args[i] = as_numeric(std::move(args[i]), parameters);
    else
      args[i] = coerce(std::move(args[i]), wanted == TypeId::Numeric ? unconstrained_numeric : Type{wanted},
                       CastContext::Implicit, parameters);
  }
  const bool narrow = chosen->narrow && (!chosen->wide || fits_narrow(info_of(*chosen->narrow), args));
  const FunctionId id = narrow ? *chosen->narrow : *chosen->wide;
  fit_numerics(info_of(id), args, parameters);
  const Type type = fit_to_value(id, args, result_type(info_of(id), args));
  auto call = make_expression(ExpressionKind::Call, type, position);
  call->function = id;
  call->args = std::move(args);
  return call;
}

bool has_overload(const std::string& sql_name, const std::vector<TypeId>& types) {
  const std::vector<Candidate> candidates = candidates_of(sql_name, types.size());
  return std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& c) { return c.arguments == types; });
}

std::string call_signature(const std::string& name, const std::vector<ExpressionPtr>& args, bool is_operator) {
  const auto type_name = [](const ExpressionPtr& e) { return Type{e->type.id}.name(); };
  if (is_operator && args.size() == 2) return type_name(args[0]) + " " + name + " " + type_name(args[1]);
  if (is_operator) return name + " " + type_name(args[0]);
  std::string result = name + "(";
  for (size_t i = 0; i < args.size(); ++i) result += (i == 0 ? "" : ", ") + type_name(args[i]);
  return result + ")";
}

}  // namespace diptych
