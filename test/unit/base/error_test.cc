#include "base/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace diptych {
namespace {

TEST(Error, StatesHaveDistinctFiveCharacterCodes) {
  std::set<std::string> codes;
#define X(name, code, text)                    \
  EXPECT_STREQ(code_of(SqlState::name), code); \
  EXPECT_EQ(std::string(code).size(), 5U);     \
  EXPECT_FALSE(std::string(text).empty());     \
  EXPECT_TRUE(codes.insert(code).second) << code << " twice";
  DIPTYCH_SQLSTATES(X)
#undef X
}

TEST(Error, FirstPositionStays) {
  const Error error(SqlState::syntax_error, "message");
  EXPECT_EQ(error.position(), -1);
  EXPECT_EQ(error.at(4).position(), 4);
  EXPECT_EQ(error.at(4).at(9).position(), 4);
  EXPECT_STREQ(error.what(), "message");
}

}  // namespace
}  // namespace diptych
