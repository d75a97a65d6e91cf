// Joins of files: as many rows are expected as of tables, few bytes are read for it, and none where nothing is joined.
#include <gtest/gtest.h>

#include "session/counted_files.h"
#include "session/explain_json.h"

namespace diptych {
namespace {

using testing::CountedFiles;
using testing::explain_json;

// Of 200,000 sales each has one of 40,000 buyers; 90 % are of the kind 'usual', and 100 days follow each other. Half of
// the 40,000 people are from town 7.
class JoinedFiles : public ::testing::Test {
 protected:
  static constexpr const char* sales =
      "SELECT (i * 7919 % 40000)::bigint buyer, i::bigint / 2000 AS day, "
      "CASE WHEN i % 10 = 0 THEN 'rare' || i % 50 ELSE 'usual' END kind, 'n' || i AS note FROM generate_series(0, "
      "199999) "
      "g(i)";
  static constexpr const char* people =
      "SELECT i::bigint id, (CASE WHEN i % 2 = 0 THEN 7 ELSE i END)::bigint town FROM generate_series(0, 39999) g(i)";

  void SetUp() override {
    for (const char* ending : {".parquet", ".csv' (HEADER) --"}) {
      run(std::string("COPY (") + sales + ") TO 'sales" + ending + "'");
      run(std::string("COPY (") + people + ") TO 'people" + ending + "'");
    }
    run(std::string("CREATE TABLE sales AS ") + sales);
    run(std::string("CREATE TABLE people AS ") + people);
    parquet_bytes = static_cast<int64_t>(files.memory().contents("sales.parquet").size());
  }

  void run(const std::string& sql) {
    connection.start_statement();
    read_values(*Statement(connection, sql).run());
  }
  // Bytes that are read for a plan.
  int64_t read_for(const std::string& query) {
    files.take_bytes_read();
    run("EXPLAIN " + query);
    return files.take_bytes_read();
  }

  // For each pair of files: the rows of the first join.
  template <typename Check>
  void expect_of_joins(const std::string& conditions, Check check) {
    for (const std::string ending : {".parquet'", ".csv'", ""}) {
      const std::string quote = ending.empty() ? "" : "'";
      const std::string query = "SELECT count(*) FROM " + quote + "sales" + ending + " s, " + quote + "people" +
                                ending + " p WHERE s.buyer = p.id AND " + conditions;
      SCOPED_TRACE(query);
      const nlohmann::json document = explain_json(connection, query);
      for (const auto& section : document["run"]["sections"])
        for (const auto& join : section["joins"])
          check(join["estimated_rows"].get<double>(), join["rows"].get<double>());
    }
  }

  CountedFiles files;
  Database database{"t.diptych", files};
  Connection connection{database};
  int64_t parquet_bytes = 0;
};

TEST_F(JoinedFiles, AsManyRowsAreExpectedAsThereAre) {
  const auto is_near = [](double expected, double found) {
    EXPECT_LT(expected, 3 * found);
    EXPECT_GT(expected, found / 3);
  };
  expect_of_joins("p.town = 7", is_near);
  expect_of_joins("s.kind = 'usual'", is_near);
  expect_of_joins("s.kind <> 'usual' AND p.town = 7", is_near);
  expect_of_joins("s.day < 50", is_near);
  expect_of_joins("s.day >= 40 AND s.day < 45", is_near);
  expect_of_joins("s.day = 33", is_near);
}

TEST_F(JoinedFiles, ASingleFileIsNotSampled) {
  const int64_t opened = read_for("SELECT * FROM 'sales.parquet'");
  EXPECT_LT(opened, 70'000);  // the footer
  EXPECT_EQ(read_for("SELECT kind, count(*) FROM 'sales.parquet' WHERE day < 50 AND kind = 'usual' GROUP BY kind"),
            opened);
  EXPECT_EQ(read_for("SELECT day FROM 'sales.parquet' WHERE buyer > 5 ORDER BY note LIMIT 5"), opened);
}

TEST_F(JoinedFiles, ColumnsThatNoEstimateNeedsAreNotRead) {
  const int64_t of_keys = read_for("SELECT s.note FROM 'sales.parquet' s, people p WHERE s.buyer = p.id");
  EXPECT_GT(of_keys, read_for("SELECT note FROM 'sales.parquet'"));
  EXPECT_LT(of_keys, parquet_bytes);
  EXPECT_GT(read_for("SELECT s.note FROM 'sales.parquet' s, people p WHERE s.buyer = p.id AND s.note < 'n7'"), of_keys);
}

}  // namespace
}  // namespace diptych
