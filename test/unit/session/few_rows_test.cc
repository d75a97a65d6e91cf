// Sections of few tablets on several threads, of which all but one may never be asked.
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

class FewRowsTest : public ::testing::Test {
 protected:
  std::string run(const std::string& sql) {
    try {
      std::string text;
      connection_.start_statement();
      for (const Value& value : read_values(*Statement(connection_, sql).run())) text += value.to_text() + " ";
      return text;
    } catch (const Error& error) {
      return code_of(error.state());
    }
  }

  // What is quick, and what is not, ends alike on one thread and on several.
  void expect_alike(const std::string& sql) {
    std::string expected;
    for (const int threads : {1, 2, 4}) {
      run("SET threads = " + std::to_string(threads));
      const std::string found = run(sql);
      if (threads == 1)
        expected = found;
      else
        EXPECT_EQ(found, expected) << sql;
    }
  }

  Database database_{":memory:"};
  Connection connection_{database_};
};

TEST_F(FewRowsTest, ThreadsThatAreCalledChangeNothing) {
  run("CREATE TABLE t AS SELECT i AS id, i % 1000 AS part, 'name ' || i % 300 AS name "
      "FROM generate_series(1, 300000) g(i)");
  for (const char* sql :
       {"SELECT count(*), sum(id) FROM t WHERE part = 7", "SELECT id FROM t WHERE id % 30000 = 1",
        "SELECT id FROM t WHERE part < 2 ORDER BY name, id LIMIT 40", "SELECT id, name FROM t WHERE part = 3 LIMIT 7",
        "SELECT count(*) FROM t WHERE sqrt(id * 2.0) * ln(id + 1) > 4000 AND name LIKE '%9%'",
        "SELECT name, count(*), max(id) FROM t GROUP BY name ORDER BY name",
        "SELECT count(*) FROM t a JOIN t b ON a.id = b.part WHERE b.id % 3 = 0",
        "SELECT sum(1 / (id - 290000)) FROM t WHERE sqrt(id) > 0", "SELECT max(id / (id - 1)) FROM t"})
    expect_alike(sql);
}

}  // namespace
}  // namespace diptych
