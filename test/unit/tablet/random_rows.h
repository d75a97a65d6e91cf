// Random columns of every type for the tests, and the reading back of views.
#pragma once

#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tablet/aligned_buffer.h"
#include "tablet/dictionary.h"
#include "tablet/row_batch.h"
#include "tablet/tablet_source.h"
#include "tablet/validity_bits.h"

namespace diptych::testing {

// A column whose cells are kept as bytes: the register form of a value, or a string's characters; nothing for NULL.
struct RandomColumn {
  Type type;
  std::vector<std::optional<std::string>> cells;
  // What a batch views.
  std::vector<char> values;
  std::vector<uint8_t> validity;
  std::vector<uint32_t> offsets;
  bool has_nulls = false;

  BatchColumn batch() const {
    BatchColumn column;
    column.physical = type.physical();
    column.validity = has_nulls ? validity.data() : nullptr;
    if (column.physical == PhysicalType::Text) {
      column.offsets = offsets.data();
      column.bytes = values.data();
    } else {
      column.values = values.data();
    }
    return column;
  }
};

// What the values are like.
enum class Spread { Constant, Narrow, Stepped, Wide, Extreme };

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

inline int64_t random_integer(std::mt19937_64& random, Spread spread) {
  switch (spread) {
    case Spread::Constant: return 42;
    case Spread::Narrow: return static_cast<int64_t>(random() % 200) - 100;
    case Spread::Stepped: return static_cast<int64_t>(random() % 50 + 1) * 100;
    case Spread::Wide: return static_cast<int64_t>(random() % 1000000) - 3;
    case Spread::Extreme:
      return random() % 4 == 0 ? INT64_MIN : random() % 4 == 0 ? INT64_MAX : static_cast<int64_t>(random());
  }
  return 0;
}

inline std::string random_string(std::mt19937_64& random, Spread spread) {
  switch (spread) {
    case Spread::Constant: return "same";
    case Spread::Narrow: return std::string(1, static_cast<char>('A' + random() % 5));
    case Spread::Stepped: return "step " + std::to_string(random() % 300);
    case Spread::Wide: return std::to_string(random()) + std::string(random() % 40, 'x');
    case Spread::Extreme: return std::string(random() % 50 == 0 ? random() % 3000 : random() % 2, 'y');
  }
  return {};
}

inline std::string random_cell(std::mt19937_64& random, PhysicalType type, Spread spread) {
  int64_t integer = random_integer(random, spread);
  switch (type) {
    case PhysicalType::Bool: return bytes_of<uint8_t>(integer & 1);
    case PhysicalType::Int32: return bytes_of<int32_t>(static_cast<int32_t>(integer));
    case PhysicalType::Int64: return bytes_of<int64_t>(integer);
    case PhysicalType::Int128:
      return bytes_of<int128_t>(spread == Spread::Extreme ? int128_t{integer} * integer : integer);
    case PhysicalType::Float32: return bytes_of<float>(static_cast<float>(integer) / 8);
    case PhysicalType::Float64: return bytes_of<double>(static_cast<double>(integer) / 8);
    case PhysicalType::Interval: {
      Interval interval;
      interval.months = static_cast<int32_t>(integer % 100);
      interval.microseconds = integer;
      return bytes_of(interval);
    }
    case PhysicalType::Text: return random_string(random, spread);
  }
  return {};
}

inline RandomColumn random_column(std::mt19937_64& random, Type type, Spread spread, int64_t rows, int null_percent) {
  RandomColumn column;
  column.type = type;
  column.has_nulls = null_percent > 0;
  column.validity.assign(static_cast<size_t>(validity_bytes(rows)), 0);
  column.offsets.push_back(0);
  PhysicalType physical = type.physical();
  for (int64_t i = 0; i < rows; ++i) {
    bool null = static_cast<int>(random() % 100) < null_percent;
    std::string cell = random_cell(random, physical, spread);
    if (type.id == TypeId::SmallInt) cell = bytes_of<int32_t>(static_cast<int16_t>(random_integer(random, spread)));
    if (null && physical == PhysicalType::Text) cell.resize(random() % 2);  // a null slot may hold anything
    column.values.insert(column.values.end(), cell.begin(), cell.end());
    column.offsets.push_back(static_cast<uint32_t>(column.values.size()));
    if (null) {
      column.cells.push_back(std::nullopt);
    } else {
      column.validity[static_cast<size_t>(i / 8)] |= static_cast<uint8_t>(1 << (i % 8));
      column.cells.push_back(cell);
    }
  }
  return column;
}

inline uint64_t code_of_row(const ColumnView& view, int64_t row) {
  uint64_t code = 0;
  if (view.width > 0) std::memcpy(&code, view.data + row * view.width, view.width);
  return code;
}

inline std::string integer_cell(PhysicalType type, int64_t value) {
  switch (type) {
    case PhysicalType::Bool: return bytes_of<uint8_t>(static_cast<uint8_t>(value));
    case PhysicalType::Int32: return bytes_of<int32_t>(static_cast<int32_t>(value));
    case PhysicalType::Int64: return bytes_of<int64_t>(value);
    default: return bytes_of<int128_t>(value);
  }
}

inline std::optional<std::string> cell_at(const ColumnView& view, int64_t row) {
  if (!is_valid(view.validity, row)) return std::nullopt;
  switch (view.encoding) {
    case Encoding::FrameOfReference:
      return integer_cell(view.physical,
                          static_cast<int64_t>(static_cast<uint64_t>(view.base) +
                                               static_cast<uint64_t>(view.factor) * code_of_row(view, row)));
    case Encoding::Plain: {
      int width = width_bytes(view.physical);
      return std::string(reinterpret_cast<const char*>(view.data) + row * width, static_cast<size_t>(width));
    }
    case Encoding::Dictionary: return std::string((*view.dictionary)[static_cast<uint32_t>(code_of_row(view, row))]);
    case Encoding::Heap: return std::string(view.heap + view.offsets[row], view.offsets[row + 1] - view.offsets[row]);
  }
  return std::nullopt;
}

inline std::vector<Type> every_type() {
  return {{TypeId::Boolean, 0, 0, 0},   {TypeId::SmallInt, 0, 0, 0}, {TypeId::Integer, 0, 0, 0},
          {TypeId::BigInt, 0, 0, 0},    {TypeId::Real, 0, 0, 0},     {TypeId::Double, 0, 0, 0},
          Type::numeric(15, 2),         Type::numeric(38, 5),        {TypeId::Date, 0, 0, 0},
          {TypeId::Timestamp, 0, 0, 0}, {TypeId::Interval, 0, 0, 0}, {TypeId::Text, 0, 0, 0}};
}

}  // namespace diptych::testing
