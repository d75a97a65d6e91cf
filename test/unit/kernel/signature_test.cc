// Every row of functions.def has its function, with the parameters that the head of that file promises.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <type_traits>

#include "kernel/kernel.h"

namespace {

// The logical types of the table, each with its C type and the parameters it brings along.
template <typename T>
struct Plain {
  using type = T;
  static constexpr int argument_parameters = 0;
  static constexpr int result_parameters = 0;
};
template <typename T>
struct Numeric {
  using type = T;
  static constexpr int argument_parameters = 1;
  static constexpr int result_parameters = 2;
};
struct Limited {
  using type = dk_text;
  [[maybe_unused]] static constexpr int argument_parameters = 0;
  static constexpr int result_parameters = 1;
};

using BOOLEAN = Plain<dk_bool>;
using SMALLINT = Plain<dk_i32>;
using INTEGER = Plain<dk_i32>;
using BIGINT = Plain<dk_i64>;
using REAL = Plain<dk_f32>;
using DOUBLE = Plain<dk_f64>;
using NUMERIC64 = Numeric<dk_i64>;
using NUMERIC128 = Numeric<dk_i128>;
using DATE = Plain<dk_i32>;
using TIMESTAMP = Plain<dk_i64>;
using INTERVAL = Plain<dk_interval>;
using TEXT = Plain<dk_text>;
using VARCHAR = Limited;
using CHAR = Limited;

template <typename... Ts>
struct List {};

// The function type of a List with more parameters at its end.
template <typename Result, typename Parameters, int integers, typename... Last>
struct Extended;
template <typename Result, typename... Parameters, int integers, typename... Last>
struct Extended<Result, List<Parameters...>, integers, Last...>
    : Extended<Result, List<Parameters..., dk_i32>, integers - 1, Last...> {};
template <typename Result, typename... Parameters, typename... Last>
struct Extended<Result, List<Parameters...>, 0, Last...> {
  using type = Result(Parameters..., Last...);
};

template <int flags, typename Result, typename Signature>
struct Promised;
template <int flags, typename Result, typename... Arguments>
struct Promised<flags, Result, void(Arguments...)> {
  using Parameters = List<typename Arguments::type...>;
  static constexpr int scales = (0 + ... + Arguments::argument_parameters);
  static constexpr int all = scales + Result::result_parameters;

  template <typename R, int integers>
  using WithError = typename std::conditional_t<(flags & DK_RAISES) != 0, Extended<R, Parameters, integers, dk_i32*>,
                                                Extended<R, Parameters, integers>>::type;
  using Value = WithError<typename Result::type, all>;
  using Size = WithError<dk_i32, scales>;
  using Write = typename Extended<dk_i32, Parameters, scales, char*>::type;
};

#define CHECK_SAME(function, promised) \
  static_assert(std::is_same_v<decltype(function), promised>, "signature of " #function);
#define DK_FUNCTION(name, sql_name, result, arguments, flags, documentation) \
  CHECK_SAME(dk_##name, Promised<(flags)COMMA result COMMA void arguments>::Value)
#define DK_TEXT_FUNCTION(name, sql_name, result, arguments, flags, documentation)        \
  CHECK_SAME(dk_##name##_size, Promised<(flags)COMMA result COMMA void arguments>::Size) \
  CHECK_SAME(dk_##name##_write, Promised<(flags)COMMA result COMMA void arguments>::Write)
#define COMMA ,
#include "kernel/functions.def"

constexpr int scale_flags = DK_SCALE_COMMON | DK_SCALE_0 | DK_SCALE_3 | DK_SCALE_6 | DK_SCALE_20 | DK_SCALE_DIGITS |
                            DK_SCALE_DIVISION | DK_SCALE_TARGET;

struct Row {
  const char* name;
  const char* documentation;
  int flags;
  bool is_numeric, is_text;
};

constexpr Row rows[] = {
#define DK_FUNCTION(name, sql_name, result, arguments, flags, documentation) \
  {#name, documentation, flags, result::result_parameters == 2, std::is_same_v<result::type, dk_text>},
#include "kernel/functions.def"
};

// Numeric results, and no others, say what their scale is; text is new or a piece.
TEST(Functions, FlagsAreConsistent) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.is_numeric, (row.flags & scale_flags) != 0) << row.name;
    EXPECT_EQ(row.is_text, (row.flags & (DK_TEXT_OUT | DK_SLICE)) != 0) << row.name;
    EXPECT_GT(std::strlen(row.documentation), 0U) << row.name;
  }
}

// An alias names rows that exist.
TEST(Functions, AliasesLeadSomewhere) {
  std::set<std::string> names;
#define DK_FUNCTION(name, sql_name, result, arguments, flags, documentation) names.insert(sql_name);
#include "kernel/functions.def"
#define DK_ALIAS(other_name, sql_name) \
  EXPECT_TRUE(names.count(sql_name) == 1 && names.count(other_name) == 0) << other_name;
#include "kernel/functions.def"
}

}  // namespace
