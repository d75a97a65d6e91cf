#include "base/value.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"

namespace diptych {
namespace {

TEST(Value, TextForms) {
  EXPECT_EQ(Value().to_text(), "");
  EXPECT_EQ(Value::boolean(true).to_text(), "t");
  EXPECT_EQ(Value::integral(Type::numeric(5, 2), 150).to_text(), "1.50");
  EXPECT_EQ(Value::integral({TypeId::Date}, 8825).to_text(), "2024-02-29");
  EXPECT_EQ(Value::integral({TypeId::Timestamp}, 0).to_text(), "2000-01-01 00:00:00");
  EXPECT_EQ(Value::floating({TypeId::Real}, 0.1F).to_text(), "0.1");
  EXPECT_EQ(Value::float64(0.1).to_text(), "0.1");
  EXPECT_EQ(Value::interval({0, 1, 0}).to_text(), "1 day");
  EXPECT_EQ(Value::string({.id = TypeId::Char, .length = 3}, "a").to_text(), "a  ");
  EXPECT_EQ(Value::string({.id = TypeId::Varchar, .length = 3}, "a").to_text(), "a");
}

TEST(Value, EqualityIsThatOfThePayload) {
  EXPECT_EQ(Value::float64(std::nan("")), Value::float64(std::nan("")));
  EXPECT_NE(Value::float64(0.0), Value::float64(-0.0));
  EXPECT_EQ(Value::float64(1.5), Value::float64(1.5));
  EXPECT_NE(Value::float64(1.5), Value::floating({TypeId::Real}, 1.5));
  EXPECT_EQ(Value::text("a"), Value::text("a"));
  EXPECT_NE(Value::text("a"), Value::text("b"));
}

TEST(Value, NullKeepsItsType) {
  const Value value = Value::null({TypeId::Integer});
  EXPECT_TRUE(value.is_null());
  EXPECT_EQ(value.type().id, TypeId::Integer);
  EXPECT_NE(value, Value::integer(0));
}

TEST(Value, WrongAccessNamesTheInvariant) {
  try {
    Value::integer(1).as_string();
    FAIL() << "an integer was read as a string";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::internal_error);
  }
  EXPECT_THROW(Value().as_integral(), Error);
  EXPECT_THROW(Value::integral({TypeId::Text}, 1), Error);
}

}  // namespace
}  // namespace diptych
