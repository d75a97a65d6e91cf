// An appender gathers rows in batches whose strings have offsets of 32 bits: it hands them on before they are too many.
#include "session/appender.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "base/error.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

class AppenderTest : public ::testing::Test {
 protected:
  std::vector<Value> run(const std::string& sql) {
    connection_.start_statement();
    return read_values(*Statement(connection_, sql).run());
  }

  // Of a number and three strings, some of them long, some NULL: their values.
  std::vector<Value> append_rows(size_t batch_bytes) {
    std::vector<Value> values;
    Appender appender(connection_, "t", batch_bytes);
    for (int32_t i = 0; i < 300; ++i) {
      const std::string strings[] = {
          std::string(static_cast<size_t>(i % 11 == 3 ? 2999 : i % 17), static_cast<char>('a' + i % 26)),
          "c" + std::to_string(i), std::string(static_cast<size_t>(i * 7 % 500), 'v')};
      appender.append(int64_t{i});
      values.push_back(Value::integer(i));
      for (int32_t column = 0; column < 3; ++column) {
        if ((i + column) % 5 == 2) {
          appender.append_null();
          values.push_back(Value::null({TypeId::Text}));
        } else {
          appender.append(std::string_view(strings[column]));
          values.push_back(Value::text(strings[column]));
        }
      }
      appender.end_row();
      EXPECT_LT(appender.string_bytes(), batch_bytes);
    }
    appender.finish();
    return values;
  }

  Database database_{":memory:"};
  Connection connection_{database_};
};

TEST_F(AppenderTest, StringsOfManyBytesAreSeveralBatches) {
  for (const size_t batch_bytes : {1, 100, 257, 4096, 1 << 26}) {
    run("CREATE TABLE t(i integer NOT NULL, s text, c char(9), v varchar(4000))");
    const std::vector<Value> expected = append_rows(batch_bytes);
    EXPECT_EQ(run("SELECT i, s, c::text, v::text FROM t ORDER BY i"), expected) << "batches of " << batch_bytes;
    run("DROP TABLE t");
  }
}

// What was not stored is not said to be, however often one asks.
TEST_F(AppenderTest, AFailedFinishFailsAgain) {
  run("CREATE TABLE k(a integer PRIMARY KEY)");
  {
    Appender appender(connection_, "k");
    for (int i = 0; i < 2; ++i) {
      appender.append(int64_t{7});
      appender.end_row();
    }
    EXPECT_THROW(appender.finish(), Error);
    EXPECT_THROW(appender.finish(), Error);
  }
  EXPECT_EQ(run("SELECT count(*) FROM k"), std::vector<Value>{Value::bigint(0)});
}

TEST_F(AppenderTest, StringsHaveALongestLength) {
  run("CREATE TABLE t(s text)");
  // Zeros without memory: such a string is refused before it is read.
  const size_t bytes = size_t{1} << 30;
  void* zeros = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(zeros, MAP_FAILED);
  Appender appender(connection_, "t");
  try {
    appender.append(std::string_view(static_cast<const char*>(zeros), bytes));
    ADD_FAILURE() << "a string of 1 GiB was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::program_limit_exceeded) << error.message();
  }
  munmap(zeros, bytes);
}

}  // namespace
}  // namespace diptych
