#include "engine/gpu/interpreter/constant_range.h"

#include <bit>
#include <cmath>
#include <limits>

namespace diptych::gpu {
namespace {

enum class Order : uint8_t { Equal, NotEqual, Less, AtMost, Greater, AtLeast };

std::optional<Order> order_of(Opcode comparison) {
  switch (comparison) {
    case Opcode::SetEq:
    case Opcode::Eq: return Order::Equal;
    case Opcode::SetNeq:
    case Opcode::Neq: return Order::NotEqual;
    case Opcode::SetLt:
    case Opcode::Lt: return Order::Less;
    case Opcode::SetLe:
    case Opcode::Le: return Order::AtMost;
    case Opcode::SetGt:
    case Opcode::Gt: return Order::Greater;
    case Opcode::SetGe:
    case Opcode::Ge: return Order::AtLeast;
    default: return std::nullopt;
  }
}

Order flip(Order order) {
  switch (order) {
    case Order::Less: return Order::Greater;
    case Order::AtMost: return Order::AtLeast;
    case Order::Greater: return Order::Less;
    case Order::AtLeast: return Order::AtMost;
    default: return order;
  }
}

ConstantRange range_of_whole(Order order, int64_t constant) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
  ConstantRange range;
  const auto set = [&](int64_t from, int64_t to) {
    range.least = static_cast<uint64_t>(from);
    range.greatest = static_cast<uint64_t>(to);
  };
  switch (order) {
    case Order::Equal: set(constant, constant); break;
    case Order::NotEqual:
      set(constant, constant);
      range.negated = true;
      break;
    case Order::AtMost: set(least, constant); break;
    case Order::AtLeast: set(constant, greatest); break;
    // What is not at least, or at most, the constant: there is nothing beyond the least and the greatest.
    case Order::Less:
      set(constant, greatest);
      range.negated = true;
      break;
    case Order::Greater:
      set(least, constant);
      range.negated = true;
      break;
  }
  return range;
}

// NaN, which no such comparison of the processor holds for, is greater than all: a bound of NaN is no range.
std::optional<ConstantRange> range_of_float(Order order, uint32_t bits) {
  if (std::isnan(std::bit_cast<float>(bits))) return std::nullopt;
  ConstantRange range;
  range.least = bits;
  range.negated = order == Order::NotEqual || order == Order::Greater || order == Order::AtLeast;
  range.kind = order == Order::Equal || order == Order::NotEqual ? DK_RANGE_AT
               : order == Order::Less || order == Order::AtLeast ? DK_RANGE_BELOW
                                                                 : DK_RANGE_UP_TO;
  return range;
}

}  // namespace

std::optional<ConstantRange> find_constant_range(Opcode comparison, bool flipped, PhysicalType physical,
                                                 uint64_t constant) {
  std::optional<Order> order = order_of(comparison);
  if (!order) return std::nullopt;
  if (flipped) order = flip(*order);
  if (physical == PhysicalType::Float32) return range_of_float(*order, static_cast<uint32_t>(constant));
  if (physical == PhysicalType::Int32 || physical == PhysicalType::Int64)
    return range_of_whole(*order, static_cast<int64_t>(constant));
  return std::nullopt;
}

}  // namespace diptych::gpu
