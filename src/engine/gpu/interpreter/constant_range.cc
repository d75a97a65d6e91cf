#include "engine/gpu/interpreter/constant_range.h"

#include <bit>
#include <cmath>
#include <limits>

#include "program/comparison.h"

namespace diptych::gpu {
namespace {

ConstantRange range_of_whole(Comparison order, int64_t constant) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min(), greatest = std::numeric_limits<int64_t>::max();
  ConstantRange range;
  const auto set = [&](int64_t from, int64_t to) {
    range.least = static_cast<uint64_t>(from);
    range.greatest = static_cast<uint64_t>(to);
  };
  switch (order) {
    case Comparison::Eq: set(constant, constant); break;
    case Comparison::Neq:
      set(constant, constant);
      range.negated = true;
      break;
    case Comparison::Le: set(least, constant); break;
    case Comparison::Ge: set(constant, greatest); break;
    // What is not at least, or at most, the constant: there is nothing beyond the least and the greatest.
    case Comparison::Lt:
      set(constant, greatest);
      range.negated = true;
      break;
    case Comparison::Gt:
      set(least, constant);
      range.negated = true;
      break;
  }
  return range;
}

// NaN, which no such comparison of the processor holds for, is greater than all: a bound of NaN is no range.
std::optional<ConstantRange> range_of_float(Comparison order, uint32_t bits) {
  if (std::isnan(std::bit_cast<float>(bits))) return std::nullopt;
  ConstantRange range;
  range.least = bits;
  range.negated = order == Comparison::Neq || order == Comparison::Gt || order == Comparison::Ge;
  range.kind = order == Comparison::Eq || order == Comparison::Neq  ? DK_RANGE_AT
               : order == Comparison::Lt || order == Comparison::Ge ? DK_RANGE_BELOW
                                                                    : DK_RANGE_UP_TO;
  return range;
}

}  // namespace

std::optional<ConstantRange> find_constant_range(Opcode comparison, bool flipped, PhysicalType physical,
                                                 uint64_t constant) {
  std::optional<Comparison> order = comparison_of(comparison);
  if (!order || compares_nulls(comparison)) return std::nullopt;
  if (flipped) order = mirrored(*order);
  if (physical == PhysicalType::Float32) return range_of_float(*order, static_cast<uint32_t>(constant));
  if (physical == PhysicalType::Int32 || physical == PhysicalType::Int64)
    return range_of_whole(*order, static_cast<int64_t>(constant));
  return std::nullopt;
}

}  // namespace diptych::gpu
