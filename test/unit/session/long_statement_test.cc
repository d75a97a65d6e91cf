// Statements with 4,000 arguments, arms and conditions: right on one thread and on several, and what a device has no
// room for falls back with its reason, without trying long.
#include <functional>

#include "session/opencl_database.h"

namespace diptych::testing {
namespace {

constexpr int count = 4000;

std::string listed(const std::function<std::string(int)>& item, const std::string& separator) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i > 0 ? separator : "") + item(i);
  return text;
}

struct Long {
  std::string query;  // over t, whose i are 0 to 2999
  std::string values;
};

const std::vector<Long>& long_statements() {
  const auto plus = [](int i) { return "i + " + std::to_string(i); };
  static const std::vector<Long> list = {
      {"SELECT sum(greatest(" + listed(plus, ", ") + ") - i) FROM t", "11997000 "},
      {"SELECT sum(least(" + listed(plus, ", ") + ")) FROM t", "4498500 "},
      {"SELECT sum(coalesce(" + listed([](int i) { return "nullif(i, i + 0 * " + std::to_string(i) + ")"; }, ", ") +
           ", 7)) FROM t",
       "21000 "},
      {"SELECT sum(CASE i " +
           listed([](int i) { return "WHEN " + std::to_string(i) + " THEN i + " + std::to_string(i); }, " ") +
           " END) FROM t",
       "8997000 "},
      {"SELECT count(*) FROM t WHERE " + listed([](int i) { return "i <> " + std::to_string(i + 2000); }, " AND "),
       "2000 "},
      {"SELECT count(*) FROM t WHERE " + listed([](int i) { return "i * 2 = " + std::to_string(4 * i); }, " OR "),
       "1500 "},
      {"SELECT count(*) FROM t WHERE i IN (" + listed([](int i) { return std::to_string(i + 10); }, ", ") + ")",
       "2990 "},
      {"SELECT count(*) FROM t WHERE f IN (" + listed([](int i) { return std::to_string(i) + ".5"; }, ", ") + ")",
       "3000 "},
      {"SELECT count(*) FROM t WHERE s IN (" + listed([](int i) { return "'" + std::to_string(2 * i) + "'"; }, ", ") +
           ")",
       "1500 "},
  };
  return list;
}

void fill_table(Connection& connection) {
  run_text(connection,
           "CREATE TABLE t AS SELECT i::integer i, i + 0.5::double precision f, i::text s "
           "FROM generate_series(0, 2999) g(i)");
}

TEST(LongStatement, IsRightOnTheCpu) {
  Database database(":memory:");
  Connection connection(database);
  run_text(connection, "SET device = cpu");
  run_text(connection, "SET tablet_rows = 1024");
  fill_table(connection);
  for (const int threads : {1, 3}) {
    run_text(connection, "SET threads = " + std::to_string(threads));
    for (const Long& one : long_statements())
      EXPECT_EQ(run_text(connection, one.query), one.values) << one.query.substr(0, 60);
  }
}

class LongStatementOnADevice : public OpenClDatabaseTest {};

TEST_F(LongStatementOnADevice, FallsBackForWantOfRoom) {
  fill_table(connection);
  for (const char* engine : {"interpreter", "generated"}) {
    set(connection, {"device = opencl", "gpu_engine = " + std::string(engine)});
    for (const Long& one : long_statements())
      EXPECT_EQ(run_text(connection, one.query), one.values) << one.query.substr(0, 60);
  }
  const std::map<std::string, int64_t> reasons = database.engines().fallbacks();
  for (const char* reason :
       {"it has more opcodes than a kernel has room for", "more conditions than the interpreter has room for",
        "more steps than the interpreter has room for"})
    EXPECT_GT(reasons.count(reason), 0u) << reason;
  for (const auto& [reason, times] : reasons) EXPECT_EQ(reason.find("does not compile"), reason.npos) << reason;
}

TEST_F(LongStatementOnADevice, HasAtMost200ConditionsInAKernel) {
  fill_table(connection);
  set(connection, {"device = opencl", "gpu_engine = generated"});
  std::string conditions;
  for (int i = 0; i < 300; ++i) conditions += " AND i <> " + std::to_string(10 * i);
  EXPECT_EQ(run_text(connection, "SELECT count(*) FROM t WHERE true" + conditions), "2700 ");
  EXPECT_EQ(database.engines().fallbacks(),
            (std::map<std::string, int64_t>{{"it has more conditions than a kernel has room for", 1}}));
}

}  // namespace
}  // namespace diptych::testing
