#include "io/parquet/parquet_statistics.h"

#include <parquet/schema.h>
#include <parquet/statistics.h>

#include <optional>

#include "io/arrow_types.h"

namespace diptych {
namespace {

std::optional<arrow::TimeUnit::type> unit_of(const parquet::LogicalType& type) {
  if (!type.is_timestamp()) return std::nullopt;
  switch (static_cast<const parquet::TimestampLogicalType&>(type).time_unit()) {
    case parquet::LogicalType::TimeUnit::MILLIS: return arrow::TimeUnit::MILLI;
    case parquet::LogicalType::TimeUnit::MICROS: return arrow::TimeUnit::MICRO;
    case parquet::LogicalType::TimeUnit::NANOS: return arrow::TimeUnit::NANO;
    default: return std::nullopt;
  }
}

bool is_unsigned(const parquet::LogicalType& type) {
  return type.is_int() && !static_cast<const parquet::IntLogicalType&>(type).is_signed();
}

// A stored integer in register units.
std::optional<int128_t> register_value(int64_t stored, int stored_bits, const parquet::LogicalType& logical,
                                       const Type& type) {
  if (type.id == TypeId::Date) return int128_t{stored} - days_from_1970_to_2000;
  if (type.id == TypeId::Timestamp) {
    std::optional<arrow::TimeUnit::type> unit = unit_of(logical);
    if (!unit) return std::nullopt;
    std::optional<int64_t> value = timestamp_of(stored, *unit);
    if (!value) return std::nullopt;
    return *value;
  }
  if (is_unsigned(logical))
    return stored_bits == 32 ? int128_t{static_cast<uint32_t>(stored)} : int128_t{static_cast<uint64_t>(stored)};
  return stored;
}

// Big-endian two's complement.
std::optional<int128_t> register_value(const uint8_t* bytes, int length) {
  if (length < 1 || length > 16) return std::nullopt;
  uint128_t value = (bytes[0] & 0x80) != 0 ? ~uint128_t{0} : 0;
  for (int i = 0; i < length; ++i) value = (value << 8) | bytes[i];
  return static_cast<int128_t>(value);
}

void set_bounds(ZoneMap& zone, std::optional<int128_t> low, std::optional<int128_t> high) {
  if (!low || !high || *low > *high) return;
  zone.has_bounds = true;
  zone.low = *low;
  zone.high = *high;
}

}  // namespace

ZoneMap zone_map_of(const parquet::ColumnChunkMetaData& chunk, const Type& type) {
  ZoneMap zone;
  std::shared_ptr<parquet::Statistics> statistics = chunk.is_stats_set() ? chunk.statistics() : nullptr;
  if (statistics == nullptr) return zone;
  bool comparable = type.is_temporal() || (type.is_number() && !type.is_float());
  if (!comparable || !statistics->HasMinMax()) return zone;
  const parquet::LogicalType& logical = *statistics->descr()->logical_type();
  if (statistics->physical_type() == parquet::Type::INT32) {
    const auto& typed = static_cast<const parquet::Int32Statistics&>(*statistics);
    set_bounds(zone, register_value(typed.min(), 32, logical, type), register_value(typed.max(), 32, logical, type));
  } else if (statistics->physical_type() == parquet::Type::INT64) {
    const auto& typed = static_cast<const parquet::Int64Statistics&>(*statistics);
    set_bounds(zone, register_value(typed.min(), 64, logical, type), register_value(typed.max(), 64, logical, type));
  } else if (statistics->physical_type() == parquet::Type::FIXED_LEN_BYTE_ARRAY && type.id == TypeId::Numeric &&
             statistics->descr()->column_order().get_order() == parquet::ColumnOrder::TYPE_DEFINED_ORDER) {
    // Without an order of its column the bounds are of the format's first form, for which writers compared bytes.
    const auto& typed = static_cast<const parquet::FLBAStatistics&>(*statistics);
    int length = statistics->descr()->type_length();
    set_bounds(zone, register_value(typed.min().ptr, length), register_value(typed.max().ptr, length));
  }
  return zone;
}

}  // namespace diptych
