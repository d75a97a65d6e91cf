// SQL types and the form their values take in registers.
//
// A logical Type is what SQL sees (numeric(15,2)); a PhysicalType is what a register of a program holds (Int64).
// Several logical types share a physical one: smallint, integer and date are all Int32 there.
#pragma once

#include <cstdint>
#include <string>

namespace diptych {

__extension__ typedef __int128 int128_t;
__extension__ typedef unsigned __int128 uint128_t;

enum class TypeId : uint8_t {
  Null,       // the type of a bare NULL before it takes another's
  Boolean,    //
  SmallInt,   // 16 bits
  Integer,    // 32 bits
  BigInt,     // 64 bits
  Real,       // IEEE 754 binary32
  Double,     // IEEE 754 binary64
  Numeric,    // fixed point: an integer of up to 38 digits, times 10^-scale
  Date,       // days since 2000-01-01, proleptic Gregorian; INT32_MAX/MIN are infinity/-infinity
  Timestamp,  // microseconds since 2000-01-01 00:00:00, no time zone; INT64_MAX/MIN are infinity/-infinity
  Interval,   // months, days, microseconds
  Text,       // UTF-8, compared bytewise
  Varchar,    // text of at most `length` characters (0: no limit)
  Char,  // text of `length` characters, kept without its trailing blanks, padded when shown; 0: of any, kept with them
};

enum class PhysicalType : uint8_t { Bool, Int32, Int64, Int128, Float32, Float64, Interval, Text };

inline constexpr int max_precision = 38;        // digits of a numeric
inline constexpr int max_int64_precision = 18;  // digits of a numeric that an Int64 holds
inline constexpr int division_scale = 16;       // least scale of a numeric quotient or average

struct Type {
  TypeId id = TypeId::Null;
  uint8_t precision = 0;  // numeric only, 1..38
  uint8_t scale = 0;      // numeric only, 0..precision
  uint32_t length = 0;    // varchar and char only, in characters

  static Type numeric(int precision, int scale) {
    return {TypeId::Numeric, static_cast<uint8_t>(precision), static_cast<uint8_t>(scale), 0};
  }

  bool operator==(const Type&) const = default;
  bool is_integer() const { return id >= TypeId::SmallInt && id <= TypeId::BigInt; }
  bool is_float() const { return id == TypeId::Real || id == TypeId::Double; }
  bool is_number() const { return id >= TypeId::SmallInt && id <= TypeId::Numeric; }
  bool is_string() const { return id >= TypeId::Text; }
  bool is_temporal() const { return id == TypeId::Date || id == TypeId::Timestamp; }

  // The register type that holds any value of this type. Null is held as Int32.
  PhysicalType physical() const;
  // As SQL writes it: "numeric(15,2)", "character varying(10)".
  std::string name() const;
};

// Digits after the point: 0 for what is no numeric.
inline int scale_of(const Type& type) { return type.id == TypeId::Numeric ? type.scale : 0; }

// An interval as PostgreSQL keeps it: the three parts are not folded into one another.
struct Interval {
  int32_t months = 0;
  int32_t days = 0;
  int64_t microseconds = 0;
  bool operator==(const Interval&) const = default;
};

// Bytes of one value in a register or a plain column; Text counts as 16 (pointer and length).
int width_bytes(PhysicalType type);
const char* name_of(PhysicalType type);

}  // namespace diptych
