#include "base/type.h"

#include "base/error.h"

namespace diptych {

namespace {

std::string with_length(const char* name, uint32_t length) {
  return length == 0 ? name : std::string(name) + "(" + std::to_string(length) + ")";
}

std::string numeric_name(const Type& type) {
  if (type.precision == 0) return "numeric";
  return "numeric(" + std::to_string(type.precision) + "," + std::to_string(type.scale) + ")";
}

}  // namespace

PhysicalType Type::physical() const {
  switch (id) {
    case TypeId::Boolean: return PhysicalType::Bool;
    case TypeId::Null:
    case TypeId::SmallInt:
    case TypeId::Integer:
    case TypeId::Date: return PhysicalType::Int32;
    case TypeId::BigInt:
    case TypeId::Timestamp: return PhysicalType::Int64;
    case TypeId::Real: return PhysicalType::Float32;
    case TypeId::Double: return PhysicalType::Float64;
    case TypeId::Numeric: return precision <= max_int64_precision ? PhysicalType::Int64 : PhysicalType::Int128;
    case TypeId::Interval: return PhysicalType::Interval;
    case TypeId::Text:
    case TypeId::Varchar:
    case TypeId::Char: return PhysicalType::Text;
  }
  throw Error(SqlState::internal_error, "invariant broken: a type has a known id");
}

std::string Type::name() const {
  switch (id) {
    case TypeId::Null: return "unknown";
    case TypeId::Boolean: return "boolean";
    case TypeId::SmallInt: return "smallint";
    case TypeId::Integer: return "integer";
    case TypeId::BigInt: return "bigint";
    case TypeId::Real: return "real";
    case TypeId::Double: return "double precision";
    case TypeId::Numeric: return numeric_name(*this);
    case TypeId::Date: return "date";
    case TypeId::Timestamp: return "timestamp without time zone";
    case TypeId::Interval: return "interval";
    case TypeId::Text: return "text";
    case TypeId::Varchar: return with_length("character varying", length);
    case TypeId::Char: return with_length("character", length);
  }
  throw Error(SqlState::internal_error, "invariant broken: a type has a known id");
}

// clang-format off
#define DIPTYCH_PHYSICAL_TYPES(X) \
  X(Bool, 1)                      \
  X(Int32, 4)                     \
  X(Int64, 8)                     \
  X(Int128, 16)                   \
  X(Float32, 4)                   \
  X(Float64, 8)                   \
  X(Interval, 16)                 \
  X(Text, 16)
// clang-format on

int width_bytes(PhysicalType type) {
  switch (type) {
#define X(name, bytes) \
  case PhysicalType::name: return bytes;
    DIPTYCH_PHYSICAL_TYPES(X)
#undef X
  }
  throw Error(SqlState::internal_error, "invariant broken: a physical type is a known one");
}

const char* name_of(PhysicalType type) {
  switch (type) {
#define X(name, bytes) \
  case PhysicalType::name: return #name;
    DIPTYCH_PHYSICAL_TYPES(X)
#undef X
  }
  throw Error(SqlState::internal_error, "invariant broken: a physical type is a known one");
}

}  // namespace diptych
