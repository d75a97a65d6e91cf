#include "kernel/function_table.h"

#include <algorithm>
#include <map>

#include "base/error.h"

namespace diptych {

namespace {

// The argument list of a row, of any length, as a counted array.
template <typename... Types>
constexpr FunctionInfo make_info(const char* kernel_name, const char* sql_name, FunctionType result, uint32_t flags,
                                 const char* documentation, Types... arguments) {
  static_assert(sizeof...(Types) <= max_function_arguments);
  return {kernel_name, sql_name, result, {arguments...}, static_cast<uint8_t>(sizeof...(Types)), flags, documentation};
}

constexpr auto function_table = [] {
  using enum FunctionType;
  return std::array<FunctionInfo, function_count>{{
#define DK_UNPACK(...) __VA_OPT__(, ) __VA_ARGS__
#define DK_FUNCTION(kernel_name, sql_name, result, arguments, flags, documentation) \
  make_info(#kernel_name, sql_name, result, flags, documentation DK_UNPACK arguments),
#include "kernel/functions.def"
#undef DK_UNPACK
  }};
}();

static_assert(std::all_of(function_table.begin(), function_table.end(),
                          [](const FunctionInfo& info) { return info.documentation[0] != '\0'; }),
              "every function of functions.def is documented");

struct FunctionIndex {
  std::map<std::string_view, std::vector<FunctionId>> by_name;
  std::vector<std::string_view> names;
};

FunctionIndex make_index() {
  FunctionIndex index;
  for (size_t i = 0; i < function_count; ++i) {
    index.by_name[function_table[i].sql_name].push_back(static_cast<FunctionId>(i));
  }
#define DK_ALIAS(other_name, sql_name) index.by_name[other_name] = index.by_name[sql_name];
#include "kernel/functions.def"
  for (const auto& [name, ids] : index.by_name) index.names.push_back(name);
  return index;
}

const FunctionIndex& function_index() {
  static const FunctionIndex index = make_index();
  return index;
}

}  // namespace

const FunctionInfo& info_of(FunctionId id) {
  check_invariant(static_cast<size_t>(id) < function_count, "a function id is a row of functions.def");
  return function_table[static_cast<size_t>(id)];
}

std::span<const FunctionId> functions_named(std::string_view sql_name) {
  const auto& by_name = function_index().by_name;
  const auto found = by_name.find(sql_name);
  if (found == by_name.end()) return {};
  return found->second;
}

const std::vector<std::string_view>& function_names() { return function_index().names; }

TypeId type_id_of(FunctionType type) {
  switch (type) {
    case FunctionType::BOOLEAN: return TypeId::Boolean;
    case FunctionType::SMALLINT: return TypeId::SmallInt;
    case FunctionType::INTEGER: return TypeId::Integer;
    case FunctionType::BIGINT: return TypeId::BigInt;
    case FunctionType::REAL: return TypeId::Real;
    case FunctionType::DOUBLE: return TypeId::Double;
    case FunctionType::NUMERIC64:
    case FunctionType::NUMERIC128: return TypeId::Numeric;
    case FunctionType::DATE: return TypeId::Date;
    case FunctionType::TIMESTAMP: return TypeId::Timestamp;
    case FunctionType::INTERVAL: return TypeId::Interval;
    case FunctionType::TEXT: return TypeId::Text;
    case FunctionType::VARCHAR: return TypeId::Varchar;
    case FunctionType::CHAR: return TypeId::Char;
  }
  throw Error(SqlState::internal_error, "invariant broken: a function type is a known one");
}

}  // namespace diptych
