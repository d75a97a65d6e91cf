// The scalar functions of kernel/functions.def as a table to look up: which there are under a name, what they take and
// give.
//
//   "round" -> [round_n64: (NUMERIC64) NUMERIC64] [round_n128: ...] [round_digits_n64: (NUMERIC64, INTEGER) ...]
//   [round_f64: ...]
//
// All functions are safe to call from any thread; nothing is built at run time but the index by name.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/type.h"
#include "kernel/dialect.h"

namespace diptych {

// One enumerator per row of functions.def, named as the kernel function is.
enum class FunctionId : uint16_t {
#define DK_FUNCTION(kernel_name, sql_name, result, arguments, flags, documentation) kernel_name,
#include "kernel/functions.def"
  count_
};
inline constexpr size_t function_count = static_cast<size_t>(FunctionId::count_);

// The types of functions.def. They name a register's type more finely than PhysicalType and more coarsely than Type.
enum class FunctionType : uint8_t {
  BOOLEAN,
  SMALLINT,
  INTEGER,
  BIGINT,
  REAL,
  DOUBLE,
  NUMERIC64,
  NUMERIC128,
  DATE,
  TIMESTAMP,
  INTERVAL,
  TEXT,
  VARCHAR,
  CHAR
};

inline constexpr size_t max_function_arguments = 8;

struct FunctionInfo {
  const char* kernel_name;
  const char* sql_name;
  FunctionType result;
  std::array<FunctionType, max_function_arguments> arguments;
  uint8_t argument_count;
  uint32_t flags;  // dk_function_flag
  const char* documentation;

  bool has_flag(dk_function_flag flag) const { return (flags & static_cast<uint32_t>(flag)) != 0; }
  std::span<const FunctionType> argument_types() const { return {arguments.data(), argument_count}; }
};

// Row `id` of functions.def.
const FunctionInfo& info_of(FunctionId id);

// The rows of that SQL name, or of the name it is an alias for, in the order of functions.def; empty when there are
// none.
std::span<const FunctionId> functions_named(std::string_view sql_name);

// Every SQL name and alias, sorted; for suggestions and completion.
const std::vector<std::string_view>& function_names();

// The logical type's id. NUMERIC64 and NUMERIC128 are both Numeric.
TypeId type_id_of(FunctionType type);

}  // namespace diptych
