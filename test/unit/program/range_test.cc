#include "program/range.h"

#include <gtest/gtest.h>

namespace diptych {
namespace {

TEST(Range, AddsAndSubtractsBounds) {
  EXPECT_EQ(*add({-3, 5}, {10, 20}), (Range{7, 25}));
  EXPECT_EQ(*sub({-3, 5}, {10, 20}), (Range{-23, -5}));
}

TEST(Range, ProductsTakeTheExtremeOfAllCorners) {
  EXPECT_EQ(*mul({-3, 5}, {-10, 20}), (Range{-60, 100}));
  EXPECT_EQ(*mul({-3, -2}, {-10, -5}), (Range{10, 30}));
}

TEST(Range, NothingIsProvenPast128Bits) {
  const int128_t great = power_of_ten(38);
  EXPECT_FALSE(add({0, great}, {0, great}).has_value());
  EXPECT_FALSE(mul({0, great}, {0, 10}).has_value());
  EXPECT_FALSE(sub({-great, 0}, {0, great}).has_value());
}

TEST(Range, OfTypes) {
  EXPECT_EQ(*range_of(Type{TypeId::SmallInt}), (Range{INT16_MIN, INT16_MAX}));
  EXPECT_EQ(*range_of(Type::numeric(4, 2)), (Range{-9999, 9999}));
  EXPECT_FALSE(range_of(Type{TypeId::Double}).has_value());
  EXPECT_FALSE(range_of(Type{TypeId::Text}).has_value());
}

}  // namespace
}  // namespace diptych
