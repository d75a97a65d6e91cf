// Connections and statements that are closed leave nothing behind; a statement left open keeps little, and no snapshot.
#include <malloc.h>

#include "api/connections.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DIPTYCH_OTHER_MALLOC 1
#endif

namespace diptych::testing {
namespace {

int64_t bytes_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd);
}

class MemoryTest : public ConnectionsTest {
 protected:
  void SetUp() override {
#ifdef DIPTYCH_OTHER_MALLOC
    GTEST_SKIP() << "a sanitizer's malloc() does not tell what is in use";
#endif
    ConnectionsTest::SetUp();
    for (diptych_connection* connection : {first, second}) run(connection, "SET threads = 1");
  }

  // How many bytes more are in use after the call than before it.
  template <typename Call>
  static int64_t growth(Call&& call) {
    const int64_t before = bytes_in_use();
    call();
    return bytes_in_use() - before;
  }

  static constexpr int64_t noise = 32 << 10;  // buffers of the library's libraries
};

TEST_F(MemoryTest, ConnectionsOpenedAndClosed) {
  const auto connect = [&](int count) {
    for (int i = 0; i < count; ++i) {
      diptych_connection* connection = nullptr;
      ASSERT_EQ(diptych_connect(database, &connection), DIPTYCH_OK);
      if (i % 100 == 0) run(connection, "SELECT 1");
      diptych_disconnect(connection);
    }
  };
  connect(200);
  EXPECT_LT(growth([&] { connect(10000); }), noise);
}

TEST_F(MemoryTest, StatementsPreparedAndFinalized) {
  run(first, "CREATE TABLE t(a integer, b text)");
  run(first, "INSERT INTO t SELECT x, 'row ' || x FROM generate_series(1, 1000) g(x)");
  const char* queries[] = {"SELECT a, b FROM t WHERE a > $1", "SELECT b, count(*) FROM t WHERE a < $1 GROUP BY b",
                           "SELECT a FROM t WHERE a <> $1 ORDER BY b LIMIT 3"};
  const auto prepare_many = [&](int count) {
    for (int i = 0; i < count; ++i) {
      diptych_statement* statement = prepare(first, queries[i % 3]);
      if (i % 2 == 0) {
        diptych_bind_int64(statement, 1, i);
        diptych_step(statement);
      }
      diptych_finalize(statement);
    }
  };
  prepare_many(1000);  // what malloc keeps for itself counts as in use
  EXPECT_LT(growth([&] { prepare_many(1000); }), noise);
}

constexpr int64_t most_bytes_open = 50 << 10;

TEST_F(MemoryTest, StatementsLeftOpen) {
  run(first, "CREATE TABLE t(a integer, b text)");
  run(first, "CREATE TABLE u(a integer, b text)");
  run(first, "INSERT INTO t SELECT x, 'row ' || x FROM generate_series(1, 20000) g(x)");
  const char* texts[] = {"SELECT a, b, a * 2 + 1, upper(b) FROM t WHERE a > 10 AND b LIKE 'row%' ORDER BY a DESC",
                         "SELECT a % 10, count(*), sum(a), min(b), max(b) FROM t GROUP BY a % 10",
                         "EXPLAIN SELECT a FROM t", "INSERT INTO u SELECT a, b FROM t WHERE a < 3"};
  constexpr int count = 20;
  for (const char* text : texts) {
    for (int i = 0; i < 3; ++i) answer_of(first, text);  // fills the pool of buffers, which is the database's
    std::vector<diptych_statement*> statements;
    const int64_t prepared = growth([&] {
      for (int i = 0; i < count; ++i) statements.push_back(prepare(first, text));
    });
    EXPECT_LT(prepared / count, most_bytes_open) << text;
    const int64_t done = growth([&] {
      for (diptych_statement* statement : statements)
        while (diptych_step(statement) == DIPTYCH_ROW) continue;
    });
    EXPECT_LT(done / count, most_bytes_open) << text;
    for (diptych_statement* statement : statements) diptych_finalize(statement);
  }
}

// The rows of a table that was dropped are freed although statements over it are prepared, have run, or were reset.
TEST_F(MemoryTest, StatementsLeftOpenHoldNoSnapshot) {
  const auto fill = [&] {
    run(first, "CREATE TABLE t(a bigint, b text)");
    run(first, "INSERT INTO t SELECT x::bigint * x, 'row ' || x FROM generate_series(1, 200000) g(x)");
  };
  fill();
  answer_of(second, "SELECT a, b FROM t");  // fills the pool of buffers, which is the database's
  run(first, "DROP TABLE t");
  const int64_t empty = bytes_in_use();
  fill();
  diptych_statement* prepared = prepare(first, "SELECT a, b FROM t");
  diptych_statement* done = prepare(second, "SELECT a, b FROM t");
  diptych_statement* reset = prepare(first, "SELECT a, b FROM t");
  diptych_statement* failed = prepare(first, "SELECT 1 / (a - a) FROM t");
  while (diptych_step(done) == DIPTYCH_ROW) continue;
  ASSERT_EQ(diptych_step(reset), DIPTYCH_ROW);
  ASSERT_EQ(diptych_reset(reset), DIPTYCH_OK);
  ASSERT_EQ(diptych_step(failed), DIPTYCH_ERROR);
  const int64_t rows_bytes = bytes_in_use() - empty;
  EXPECT_GT(rows_bytes, 1 << 20);
  run(second, "DROP TABLE t");
  EXPECT_LT(bytes_in_use() - empty, rows_bytes / 4);
  for (diptych_statement* statement : {prepared, done, reset, failed}) diptych_finalize(statement);
}

}  // namespace
}  // namespace diptych::testing
