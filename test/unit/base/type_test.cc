#include "base/type.h"

#include <gtest/gtest.h>

namespace diptych {
namespace {

TEST(Type, NamesAsPostgres) {
  EXPECT_EQ(Type::numeric(15, 2).name(), "numeric(15,2)");
  EXPECT_EQ((Type{.id = TypeId::Varchar, .length = 10}.name()), "character varying(10)");
  EXPECT_EQ((Type{.id = TypeId::Varchar}.name()), "character varying");
  EXPECT_EQ((Type{.id = TypeId::Char, .length = 1}.name()), "character(1)");
  EXPECT_EQ((Type{.id = TypeId::Double}.name()), "double precision");
  EXPECT_EQ((Type{.id = TypeId::Timestamp}.name()), "timestamp without time zone");
}

TEST(Type, PhysicalWidthFollowsPrecision) {
  EXPECT_EQ(Type::numeric(18, 2).physical(), PhysicalType::Int64);
  EXPECT_EQ(Type::numeric(19, 2).physical(), PhysicalType::Int128);
  EXPECT_EQ(Type{.id = TypeId::Date}.physical(), PhysicalType::Int32);
  EXPECT_EQ(Type{}.physical(), PhysicalType::Int32);
}

TEST(Type, PhysicalTypesMatchTheirCTypes) {
  EXPECT_EQ(width_bytes(PhysicalType::Bool), 1);
  EXPECT_EQ(width_bytes(PhysicalType::Int128), static_cast<int>(sizeof(int128_t)));
  EXPECT_EQ(width_bytes(PhysicalType::Interval), static_cast<int>(sizeof(Interval)));
  EXPECT_STREQ(name_of(PhysicalType::Float32), "Float32");
}

}  // namespace
}  // namespace diptych
