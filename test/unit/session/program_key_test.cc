// What becomes of a program's keys when its table changes.
#include "engine/placement/program_key.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "session/statement.h"

namespace diptych {
namespace {

class ProgramKeyTest : public ::testing::Test {
 protected:
  void run(const std::string& sql) {
    connection_.start_statement();
    Statement(connection_, sql).run();
  }

  // program_key(), lasting_key()
  std::pair<uint64_t, uint64_t> keys_of(const std::string& query) {
    connection_.start_statement();
    Statement statement(connection_, query);
    const Program& program = statement.program();
    return {program_key(program, 0), lasting_key(program)};
  }

  Database database_{":memory:"};
  Connection connection_{database_};
};

TEST_F(ProgramKeyTest, AChangeOfFewRowsLeavesTheLastingOne) {
  run("SET tablet_rows = 64");
  run("SET compaction = 'checkpoint'");
  run("CREATE TABLE t AS SELECT i AS a, i % 7 AS b FROM generate_series(1, 6400) g(i)");
  const std::string query = "SELECT sum(a) FROM t WHERE a > 5";
  const auto [key, lasting] = keys_of(query);
  EXPECT_EQ(keys_of(query), std::pair(key, lasting));
  EXPECT_EQ(keys_of("SELECT sum(a) FROM t WHERE a > 6").second, lasting) << "another literal";
  for (const char* other : {"SELECT min(a) FROM t WHERE a > 5", "SELECT sum(b) FROM t WHERE b > 5"})
    EXPECT_NE(keys_of(other).second, lasting) << other;

  run("UPDATE t SET b = b + 1 WHERE a = 1000");
  EXPECT_NE(keys_of(query).first, key);
  EXPECT_EQ(keys_of(query).second, lasting);

  run("INSERT INTO t SELECT a, b FROM t");
  EXPECT_NE(keys_of(query).second, lasting);
  run("TRUNCATE t");
  EXPECT_NE(keys_of(query).second, lasting);
  run("INSERT INTO t SELECT i, i % 7 FROM generate_series(1, 6400) g(i)");
  EXPECT_NE(keys_of(query).second, lasting) << "other tablets";
}

}  // namespace
}  // namespace diptych
