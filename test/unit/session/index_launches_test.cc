// An index of many rows is built by several launches, between which its statement may be cancelled.
#include <gtest/gtest.h>

#include <string>

#include "session/opencl_database.h"

namespace diptych {
namespace {

using testing::run_text;

// More rows than a launch takes where the device is the host's cores, fewer than the probe side has.
class IndexLaunches : public testing::OpenClDatabaseTest {
 protected:
  void SetUp() override {
    OpenClDatabaseTest::SetUp();
    if (IsSkipped()) return;
    run_text(connection,
             "CREATE TABLE built AS SELECT i AS k, i * 1000003::bigint AS sparse, i / 3 AS thrice,"
             " CASE WHEN i % 50 <> 0 THEN i % 1000 * 1000003::bigint END AS repeated, 'row ' || i AS s, -i::bigint AS v"
             " FROM generate_series(1, 600000) g(i)");
    run_text(connection,
             "CREATE TABLE probe AS SELECT i AS k, i * 1000003::bigint AS sparse, 'row ' || i AS s,"
             " CASE WHEN i < 200 THEN i * 1000003::bigint END AS few FROM generate_series(1, 700000) g(i)");
  }
  std::string run(const std::string& asked, const std::string& query) {
    set(connection, {"device = " + asked, "fallback = error"});
    return run_text(connection, query);
  }
};

TEST_F(IndexLaunches, OfEveryForm) {
  for (const std::string condition : {"p.k = b.k", "p.sparse = b.sparse", "p.k = b.thrice", "p.few = b.repeated",
                                      "p.s = b.s", "p.k = b.k AND p.sparse = b.sparse"}) {
    const std::string query = "SELECT count(*), sum(v), sum(v * p.k) FROM probe p JOIN built b ON " + condition;
    EXPECT_EQ(run("opencl", query), run("cpu", query)) << condition;
  }
  if (!device->info().is_host) return;
  const std::string explained =
      run("opencl", "EXPLAIN ANALYZE SELECT count(*), sum(v) FROM probe p JOIN built b ON p.k = b.k");
  const size_t build = explained.find("kind build");
  ASSERT_NE(build, std::string::npos) << explained;
  EXPECT_NE(explained.find("launches 2", build), std::string::npos) << explained;
}

}  // namespace
}  // namespace diptych
