// Values that parameters and appenders store are checked as those of an INSERT are.
#include "api/connections.h"

namespace diptych::testing {
namespace {

class StoredValuesTest : public ConnectionsTest {
 protected:
  // The SQLSTATE of storing the text in a column of the type, as a parameter, a row of a query, and by an appender.
  void expect(const std::string& type, const std::string& text, const std::string& state, const std::string& stored) {
    SCOPED_TRACE(type + " <- '" + text + "'");
    run(first, "CREATE TABLE t(a " + type + ")");
    const bool is_string = type.find("char") != type.npos || type == "text";
    for (const char* sql : {"INSERT INTO t VALUES ($1)", "INSERT INTO t SELECT $1",
                            "INSERT INTO t(a) SELECT $1 FROM generate_series(1, 1)"}) {
      if (!is_string && std::string_view(sql).find("SELECT") != std::string_view::npos) continue;  // $1 is text there
      diptych_statement* insert = prepare(first, sql);
      const diptych_status status = diptych_bind_text(insert, 1, text.data(), static_cast<int64_t>(text.size()));
      const std::string answer = status == DIPTYCH_OK ? answer_of(insert) : state_of(insert);
      diptych_finalize(insert);
      EXPECT_EQ(answer, state) << sql;
      expect_stored(state, stored);
      run(first, "DROP TABLE t");
      run(first, "CREATE TABLE t(a " + type + ")");
    }
    append(text, state);
    expect_stored(state, stored);
    run(first, "DROP TABLE t");
  }

  void expect_stored(const std::string& state, const std::string& stored) {
    const std::string rows = state.empty() ? "<" + stored + "> " : "";
    EXPECT_EQ(answer_of(first, "SELECT '<' || a || '>' FROM t"), rows);
  }

  void append(const std::string& text, const std::string& state) {
    diptych_appender* appender = nullptr;
    ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
    const diptych_status status = diptych_append_text(appender, text.data(), static_cast<int64_t>(text.size()));
    EXPECT_EQ(status == DIPTYCH_OK ? "" : std::string(diptych_append_error(appender).sqlstate), state);
    if (status == DIPTYCH_OK) {
      EXPECT_EQ(diptych_append_end_row(appender), DIPTYCH_OK);
      EXPECT_EQ(diptych_append_finish(appender), DIPTYCH_OK);
    }
    diptych_append_abandon(appender);
  }
};

TEST_F(StoredValuesTest, Strings) {
  expect("varchar(5)", "short", "", "short");
  expect("varchar(5)", "toolong", "22001", "");
  expect("varchar(5)", "short   ", "", "short");
  expect("varchar(5)", "\u00e4\u00f6\u00fc\u00df\u20ac", "", "\u00e4\u00f6\u00fc\u00df\u20ac");
  expect("varchar(5)", "\u00e4\u00f6\u00fc\u00df\u20acx", "22001", "");
  expect("char(5)", "toolong", "22001", "");
  expect("char(5)", "short    ", "", "short");
  expect("text", std::string("a\0b", 3), "22021", "");
  expect("text", "a\xff", "22021", "");
  expect("text", std::string("eight or more\0", 14), "22021", "");
  expect("text", "eight or more\xc0", "22021", "");
  expect("text", "12345678\u20ac12345678\u00e41234567890", "", "12345678\u20ac12345678\u00e41234567890");
  expect("varchar(5)", "\xc3", "22021", "");
}

TEST_F(StoredValuesTest, Numbers) {
  expect("numeric(4, 2)", "12.345", "", "12.35");
  expect("numeric(4, 2)", "99.994", "", "99.99");
  expect("numeric(4, 2)", "99.995", "22003", "");
  expect("numeric(4, 2)", "x", "22P02", "");
  expect("smallint", "32768", "22003", "");
  expect("integer", "2147483648", "22003", "");
  expect("date", "2024-02-30", "22008", "");
}

TEST_F(StoredValuesTest, NumbersIntoStrings) {
  run(first, "CREATE TABLE t(v varchar(3), c char(3), n numeric(3, 1), s smallint)");
  diptych_appender* appender = nullptr;
  ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_int64(appender, 1234), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22001");
  EXPECT_EQ(diptych_append_double(appender, 1.25), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22001");
  EXPECT_EQ(diptych_append_int64(appender, 123), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_double(appender, 1.5), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_double(appender, 99.96), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22003");
  EXPECT_EQ(diptych_append_double(appender, 99.94), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_int64(appender, 32768), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22003");
  EXPECT_EQ(diptych_append_int64(appender, -32768), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_end_row(appender), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_finish(appender), DIPTYCH_OK);
  diptych_append_abandon(appender);
  EXPECT_EQ(answer_of(first, "SELECT * FROM t"), "123 1.5 99.9 -32768 ");
}

TEST_F(StoredValuesTest, AppendersTakeWhatIsAssignable) {
  run(first, "CREATE TABLE t(d date, b boolean, i interval, r real)");
  diptych_appender* appender = nullptr;
  ASSERT_EQ(diptych_append_begin(first, "t", &appender), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_int64(appender, 1), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "42846");
  EXPECT_EQ(diptych_append_text(appender, "2024-02-29", -1), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_text(appender, "maybe", -1), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22P02");
  EXPECT_EQ(diptych_append_text(appender, "t", -1), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_double(appender, 1), DIPTYCH_ERROR);
  EXPECT_EQ(diptych_append_text(appender, "1 day", -1), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_double(appender, 1e300), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22003");
  EXPECT_EQ(diptych_append_double(appender, 1e-300), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "22003");
  EXPECT_EQ(diptych_append_int64(appender, 3), DIPTYCH_OK);
  EXPECT_EQ(diptych_append_null(appender), DIPTYCH_ERROR);
  EXPECT_STREQ(diptych_append_error(appender).sqlstate, "54000");
  diptych_append_abandon(appender);
}

// A parameter that is compared with a column is not cut to the column's length.
TEST_F(StoredValuesTest, ComparedParametersAreWhole) {
  run(first, "CREATE TABLE t(v varchar(3), c char(3))");
  run(first, "INSERT INTO t VALUES ('abc', 'abc')");
  for (const char* sql :
       {"SELECT count(*) FROM t WHERE v = $1", "SELECT count(*) FROM t WHERE c = $1",
        "SELECT count(*) FROM t WHERE v IN ($1)", "SELECT count(*) FROM t WHERE c BETWEEN $1 AND $1"}) {
    diptych_statement* query = prepare(first, sql);
    diptych_bind_text(query, 1, "abcdef", -1);
    EXPECT_EQ(answer_of(query), "0 ") << sql;
    diptych_reset(query);
    diptych_bind_text(query, 1, "abc", -1);
    EXPECT_EQ(answer_of(query), "1 ") << sql;
    diptych_finalize(query);
  }
}

}  // namespace
}  // namespace diptych::testing
