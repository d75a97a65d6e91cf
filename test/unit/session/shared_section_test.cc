// Sections that a device and the CPU work on together: the CPU's answers, in its order, whoever took which tablets.
#include <gtest/gtest.h>

#include "base/error.h"
#include "sanitized.h"
#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::FaultyDatabase;

// Large enough that the device is there before the CPU has done everything.
const std::string make_many =
    "CREATE TABLE many AS SELECT i, i % 7 k, i::bigint * 7919 % 1003 l, "
    "CASE WHEN i % 5 = 0 THEN NULL ELSE (i % 100)::numeric(9, 2) END n, 'name ' || i % 10 e "
    "FROM generate_series(1, 200000) g(i)";

const std::vector<std::string> queries = {
    "SELECT i, e FROM many WHERE k = 3",
    "SELECT count(*), sum(l), min(i), max(n), avg(i), sum(k::real), bool_and(k < 7), sum(i) FILTER (WHERE k > 8) "
    "FROM many WHERE k < 4",
    "SELECT count(*), max(l) FROM many WHERE k > 7",       // of no rows
    "SELECT i FROM many WHERE i > 20000 AND i < 125000",   // of some tablets
    "SELECT k, count(*) FROM many GROUP BY k ORDER BY k",  // not shared
};

// The parameter: a residency.
class SharedSectionTest : public testing::OpenClDeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    OpenClDeviceTest::SetUp();
    skip_unless_it_has(GetParam());
    if (!device_ || IsSkipped()) return;
    database_ = std::make_unique<FaultyDatabase>(*device_, GetParam());
    database_->run_in_order("cpu", make_many);
    database_->set("share_tablets = on");
    database_->set("threads = 2");
  }

  std::unique_ptr<FaultyDatabase> database_;
};

// Little memory makes small batches.
TEST_P(SharedSectionTest, AnswersAreTheCpus) {
  for (const std::string& query : queries) {
    const std::vector<std::string> expected = database_->run_in_order("cpu", query);
    for (const char* limit : {"0", "'256kB'"}) {
      database_->set(std::string("device_memory_limit = ") + limit);
      for (int64_t i = 0; i < testing::unless_sanitized(10, 3); ++i)
        EXPECT_EQ(database_->run_in_order("opencl", query), expected) << query;
    }
  }
}

TEST_P(SharedSectionTest, ErrorsOfRowsAreTheStatements) {
  for (const char* query : {"SELECT 100 / (i - 199990) FROM many", "SELECT 100 / (i - 10) FROM many"}) {
    for (int i = 0; i < 5; ++i) {
      try {
        database_->run_in_order("opencl", query);
        ADD_FAILURE() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.state(), SqlState::division_by_zero) << error.message();
      }
    }
  }
}

// What the CPU has done of the section then counts for nothing.
TEST_P(SharedSectionTest, AFailingDeviceLeavesEverythingToTheCpu) {
  for (const std::string& query : {queries[0], queries[1]}) {
    const std::vector<std::string> expected = database_->run_in_order("cpu", query);
    for (DeviceCall call : all_device_calls) {
      for (const int64_t nth : {0, 1, 3, 6}) {
        database_->device().fail(call, nth, true);
        EXPECT_EQ(database_->run_in_order("opencl", query), expected) << query;
        database_->device().fail(call, -1);
        EXPECT_EQ(database_->run_in_order("opencl", query), expected) << query;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Residencies, SharedSectionTest, ::testing::Values("serial", "streamed", "mapped", "cached"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace diptych
