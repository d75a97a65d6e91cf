// LIMIT over files: the same rows as the whole file gives first, and no more of the file read than they take.
#include <gtest/gtest.h>

#include "base/error.h"
#include "session/counted_files.h"
#include "session/session_evaluator.h"
#include "session/statement.h"

namespace diptych {
namespace {

using testing::CountedFiles;

constexpr int64_t megabyte = 1 << 20;

// Rows i, i % 1000, a name: from 0, in the order of i. The CSV file has 8 MB, the Parquet file row groups of 131,072
// rows.
class LimitedFiles : public ::testing::Test {
 protected:
  static constexpr int64_t rows = 400000;

  void SetUp() override {
    std::string text = "i,k,name\n";
    for (int64_t i = 0; i < rows; ++i)
      text += std::to_string(i) + "," + std::to_string(i % 1000) + ",name" + std::to_string(i * 7919 % 1000003) + "\n";
    put("x.csv", text);
    csv_bytes = static_cast<int64_t>(text.size());
    run("COPY (SELECT i::bigint i, (i % 1000)::bigint k, 'name' || i::bigint * 7919 % 1000003 AS name "
        "FROM generate_series(0, 399999) g(i)) TO 'x.parquet'");
    parquet_bytes = static_cast<int64_t>(files.memory().contents("x.parquet").size());
  }

  void put(const std::string& path, std::string_view text) {
    const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
    files.memory().set_contents(path, std::vector<std::byte>(bytes, bytes + text.size()));
  }

  // The values of all rows.
  std::vector<std::string> run(const std::string& sql) {
    connection.start_statement();
    files.take_bytes_read();
    std::vector<std::string> texts;
    for (const Value& value : read_values(*Statement(connection, sql).run())) texts.push_back(value.to_text());
    bytes_read = files.take_bytes_read();
    return texts;
  }

  CountedFiles files;
  Database database{"t.diptych", files};
  Connection connection{database};
  int64_t bytes_read = 0;  // by the last statement
  int64_t csv_bytes = 0, parquet_bytes = 0;
};

// The file's beginning is looked at for its columns, then its parts are read: 1 MB, 2, 4.
TEST_F(LimitedFiles, ACsvFileIsReadUpToThePartThatHasTheLastRow) {
  for (const char* threads : {"1", "3"}) {
    SCOPED_TRACE(threads);
    run(std::string("SET threads = ") + threads);
    EXPECT_EQ(run("SELECT i FROM 'x.csv' LIMIT 2"), (std::vector<std::string>{"0", "1"}));
    EXPECT_LE(bytes_read, 2 * megabyte + 10);
    EXPECT_EQ(run("SELECT i FROM 'x.csv' WHERE i > 5 LIMIT 2"), (std::vector<std::string>{"6", "7"}));
    EXPECT_LE(bytes_read, 2 * megabyte + 10);
    EXPECT_EQ(run("SELECT name FROM 'x.csv' WHERE k + 0 = 999 LIMIT 1 OFFSET 1"),
              (std::vector<std::string>{"name" + std::to_string(1999 * 7919 % 1000003)}));
    EXPECT_LE(bytes_read, 2 * megabyte + 10);
    EXPECT_EQ(run("SELECT i FROM 'x.csv' WHERE i >= 100000 LIMIT 2"), (std::vector<std::string>{"100000", "100001"}));
    EXPECT_LE(bytes_read, 4 * megabyte + 10);
    EXPECT_EQ(run("SELECT i FROM 'x.csv' WHERE i < 0 LIMIT 2"), std::vector<std::string>());
    EXPECT_LE(bytes_read, csv_bytes + megabyte + 10) << "each byte once";
    EXPECT_EQ(run("SELECT i FROM 'x.csv' WHERE i > 5 LIMIT 0"), std::vector<std::string>());
    EXPECT_LE(bytes_read, megabyte + 10);
    run("EXPLAIN SELECT i FROM 'x.csv' WHERE i > 5 LIMIT 2");
    EXPECT_LE(bytes_read, megabyte + 10);
  }
}

TEST_F(LimitedFiles, OfAParquetFileTheFirstRowsAreDecodedAlone) {
  for (const char* threads : {"1", "3"}) {
    SCOPED_TRACE(threads);
    run(std::string("SET threads = ") + threads);
    for (const char* sql :
         {"SELECT i, k, name FROM 'x.parquet' LIMIT 1", "SELECT i, k, name FROM 'x.parquet' WHERE k < 5 LIMIT 1",
          "SELECT i, k, name FROM 'x.parquet' WHERE i * 2 >= 0 LIMIT 1"}) {
      EXPECT_EQ(run(sql), (std::vector<std::string>{"0", "0", "name0"}));
      EXPECT_LE(bytes_read, parquet_bytes * 2 / 9 + megabyte / 4) << sql;
    }
    EXPECT_EQ(run("SELECT i FROM 'x.parquet' WHERE i >= 70000 LIMIT 1"), std::vector<std::string>{"70000"});
    EXPECT_EQ(run("SELECT i FROM 'x.parquet' WHERE i >= 300000 LIMIT 1"), std::vector<std::string>{"300000"});
    EXPECT_EQ(run("SELECT i FROM 'x.parquet' WHERE k < 0 LIMIT 1"), std::vector<std::string>());
  }
}

TEST_F(LimitedFiles, RowsAreTheFirstOfAllInOrder) {
  const std::vector<std::string> conditions = {"", " WHERE k = 7", " WHERE i % 70000 > 69990"};
  for (const char* file : {"'x.csv'", "'x.parquet'"}) {
    for (const std::string& condition : conditions) {
      const std::string query = std::string("SELECT i FROM ") + file + condition;
      run("SET threads = 1");
      const std::vector<std::string> all = run(query);
      for (const char* threads : {"1", "3"}) {
        run(std::string("SET threads = ") + threads);
        for (const auto& [limit, offset] :
             std::vector<std::pair<size_t, size_t>>{{10, 3}, {60, 0}, {200, 190}, {70000, 60000}, {1000000, 5}}) {
          const size_t first = std::min(offset, all.size()), end = std::min(offset + limit, all.size());
          const std::vector<std::string> expected(all.begin() + static_cast<ptrdiff_t>(first),
                                                  all.begin() + static_cast<ptrdiff_t>(end));
          const std::string text = query + " LIMIT " + std::to_string(limit) + " OFFSET " + std::to_string(offset);
          EXPECT_EQ(run(text) == expected, true) << text << " on " << threads << " threads";
        }
      }
    }
  }
}

TEST_F(LimitedFiles, WhatIsWrongBehindTheLastPartIsNotSeen) {
  std::string text = "i\n";
  for (int i = 0; i < 400000; ++i) text += std::to_string(i) + "\n";
  put("bad.csv", text + "word\n");
  EXPECT_EQ(run("SELECT i FROM 'bad.csv' WHERE i > 5 LIMIT 1"), std::vector<std::string>{"6"});
  EXPECT_EQ(run("SELECT 10 / (390000 - i) FROM 'bad.csv' WHERE i <> 9 LIMIT 1"), std::vector<std::string>{"0"});
  for (const char* sql : {"SELECT i FROM 'bad.csv' WHERE i < 0 LIMIT 1", "SELECT i FROM 'bad.csv' LIMIT 500000"}) {
    try {
      run(sql);
      ADD_FAILURE() << "no error: " << sql;
    } catch (const Error& error) {
      EXPECT_EQ(error.state(), SqlState::invalid_text_representation);
      EXPECT_NE(error.message().find("line 400002"), std::string::npos) << error.message();
    }
  }
}

TEST_F(LimitedFiles, ThePartsAreOneSectionOfTheProfile) {
  connection.start_statement();
  ExecutionProfile profile;
  Statement(connection, "SELECT i FROM 'x.csv' WHERE i + 0 >= 390000 LIMIT 2").run_profiled(profile);
  ASSERT_EQ(profile.sections.size(), 1u);
  EXPECT_EQ(profile.sections[0].rows_in, rows);
  run("SET device = opencl");
  run("SELECT i FROM 'x.csv' WHERE i >= 390000 LIMIT 2");
  EXPECT_EQ(database.engines().fallbacks(),
            (std::map<std::string, int64_t>{{"rows of a CSV file are read by the CPU", 1}}));
}

TEST_F(LimitedFiles, CancelEndsPartsOfWhichNothingIsNeeded) {
  connection.start_statement();
  Statement statement(connection, "SELECT i FROM 'x.csv' WHERE i < 0 LIMIT 1");
  connection.interrupt();
  try {
    statement.run();
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.state(), SqlState::query_canceled);
  }
}

TEST_F(LimitedFiles, AFileWithoutRowsHasNoParts) {
  put("empty.csv", "i,k\n");
  EXPECT_EQ(run("SELECT i FROM 'empty.csv' WHERE i = '1' LIMIT 1"), std::vector<std::string>());
  EXPECT_EQ(run("EXPLAIN ANALYZE SELECT i FROM 'empty.csv' LIMIT 1").front().substr(0, 7), "Limit 1");
}

}  // namespace
}  // namespace diptych
