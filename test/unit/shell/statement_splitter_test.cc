#include "shell/statement_splitter.h"

#include <gtest/gtest.h>

namespace diptych::shell {
namespace {

TEST(StatementSplitter, EndsAtTheFirstSemicolonOutsideTextsAndComments) {
  EXPECT_EQ(statement_end("select 1; select 2;"), 9u);
  EXPECT_EQ(statement_end("';'; x"), 4u);
  EXPECT_EQ(statement_end("'it''s;';"), 9u);
  EXPECT_EQ(statement_end("E'\\';';"), 7u);
  EXPECT_EQ(statement_end("'\\';"), 4u);
  EXPECT_EQ(statement_end("\";\";"), 4u);
  EXPECT_EQ(statement_end("$$;$$;"), 6u);
  EXPECT_EQ(statement_end("$a$;$$;$a$;"), 11u);
  EXPECT_EQ(statement_end("$1;"), 3u);
  EXPECT_EQ(statement_end("a$b$;"), 5u);
  EXPECT_EQ(statement_end("-- ;\n;"), 6u);
  EXPECT_EQ(statement_end("/* ; /* ; */ ; */;"), 18u);
}

TEST(StatementSplitter, IncompleteStatementsHaveNoEnd) {
  for (const char* sql : {"", "select 1", "';", "\";", "$$;", "$a$;$b$;", "-- ;", "/* ; */", "/* ; /* ; */;"}) {
    EXPECT_EQ(statement_end(sql), std::nullopt) << sql;
  }
}

TEST(StatementSplitter, BlankIsWhatHoldsNoStatement) {
  for (const char* sql : {"", " \n\t", ";", " ; ;", "-- x", "/* x */ ;"}) EXPECT_TRUE(is_blank(sql)) << sql;
  for (const char* sql : {"x", "; x", "/* x", "'"}) EXPECT_FALSE(is_blank(sql)) << sql;
  EXPECT_EQ(leading_blank(" -- a\n /* b */ x"), 15u);
}

TEST(StatementSplitter, FirstWord) {
  EXPECT_EQ(first_word(" /* x */ EXPLAIN select"), "explain");
  EXPECT_EQ(first_word("(select)"), "");
}

}  // namespace
}  // namespace diptych::shell
