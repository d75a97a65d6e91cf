#include "sql/parse_cache.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace diptych {
namespace {

TEST(ParseCache, KeepsTrees) {
  ParseCache cache;
  const auto first = cache.parse("select 1");
  EXPECT_EQ(cache.parse("select 1"), first);
  EXPECT_NE(cache.parse("select 2"), first);
  EXPECT_EQ(cache.parse("  -- nothing\n"), nullptr);
}

TEST(ParseCache, LongTextsAreNotKept) {
  ParseCache cache;
  const std::string text = "select '" + std::string(10'000, 'x') + "'";
  EXPECT_NE(cache.parse(text), cache.parse(text));
}

TEST(ParseCache, ErrorsComeEachTime) {
  ParseCache cache;
  for (int i = 0; i < 2; ++i) EXPECT_THROW(cache.parse("selec 1"), Error);
}

// However many texts come, trees that somebody holds stay.
TEST(ParseCache, HeldTreesOutliveTheirPlace) {
  ParseCache cache;
  const auto held = cache.parse("select 0");
  for (int i = 1; i < 1000; ++i) cache.parse("select " + std::to_string(i));
  EXPECT_TRUE(std::holds_alternative<syntax::Select>(held->node));
}

}  // namespace
}  // namespace diptych
