// Files that lie: values and meta data of a database file changed with every checksum made right again, Parquet files
// with false statistics. An error, or answers on which all engines agree; never memory that is not theirs (which the
// sanitizers see). DIPTYCH_TEST_SEED chooses what is changed, DIPTYCH_TEST_SECONDS how long to go on beyond a few
// rounds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "session/false_statistics.h"
#include "session/faulty_database.h"

namespace diptych {
namespace {

using testing::answer;
using testing::is_error;
using testing::is_internal_error;
using Clock = std::chrono::steady_clock;

uint64_t base_seed() {
  const char* given = std::getenv("DIPTYCH_TEST_SEED");
  return given ? std::strtoull(given, nullptr, 10) : 1;
}

// At least so many rounds with seeds of their own, and more for as long as was asked for.
template <typename Round>
void for_rounds(int rounds, Round&& round) {
  const char* given = std::getenv("DIPTYCH_TEST_SECONDS");
  const auto end = Clock::now() + std::chrono::seconds(given ? std::atoi(given) : 0);
  int done = 0;
  for (uint64_t seed = base_seed(); done < rounds || Clock::now() < end; ++seed, ++done) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bytes(6 + random() % 14);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    round(std::span<const uint8_t>(bytes));
    if (::testing::Test::HasFailure()) return;
  }
  std::cerr << done << " rounds from seed " << base_seed() << "\n";
}

class UntrustedFiles : public testing::OpenClDeviceTest {
 protected:
  void SetUp() override {}  // all but one of these tests need no device

  // Answers of a section's question in one way, against those of one core.
  static void compare(Connection& connection, const std::string& setting, const std::vector<std::string>& expected) {
    answer(connection, setting);
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string sql = testing::damaged_questions[i];
      if (sql.starts_with("INSERT")) return;
      const std::string found = answer(connection, sql);
      EXPECT_FALSE(is_internal_error(found)) << setting << ": " << sql << ": " << found;
      if (is_error(found) || is_error(expected[i])) continue;
      EXPECT_EQ(found, expected[i]) << setting << ": " << sql;
    }
  }

  static std::vector<std::string> answers_of_one_core(Connection& connection) {
    answer(connection, "SET threads = 1");
    std::vector<std::string> answers;
    for (const char* sql : testing::damaged_questions) {
      if (std::string(sql).starts_with("INSERT")) break;
      answers.push_back(answer(connection, sql));
      EXPECT_FALSE(is_internal_error(answers.back())) << sql << ": " << answers.back();
    }
    return answers;
  }
};

TEST_F(UntrustedFiles, CoresAgreeOnChangedValues) {
  const testing::DamagedFile damaged;
  int opened = 0;
  for_rounds(150, [&](std::span<const uint8_t> edits) {
    MemoryFileSystem files;
    files.set_contents(testing::damaged_path, damaged.edit(edits));
    try {
      Database database(testing::damaged_path, files);
      Connection connection(database);
      compare(connection, "SET threads = 3", answers_of_one_core(connection));
      for (const char* sql : testing::damaged_questions)
        EXPECT_FALSE(is_internal_error(answer(connection, sql))) << sql;
      ++opened;
    } catch (const Error& error) {
      EXPECT_NE(error.state(), SqlState::internal_error) << error.message();
    }
  });
  EXPECT_GT(opened, 20);
}

// A database over the files with a device that counts its kernels.
class DeviceDatabase {
 public:
  DeviceDatabase(Device& device, const char* path, MemoryFileSystem& files)
      : database_(path, files, drivers(device)), connection_(database_) {}

  Connection& connection() { return connection_; }
  // The interpreter groups nothing; generated kernels do, but each shape of columns has its own, which takes long.
  void choose(int round) {
    const char* residencies[] = {"cached", "mapped", "streamed", "serial"};
    answer(connection_, std::string("SET gpu_engine = ") + (round / 4 % 2 == 0 ? "interpreter" : "generated"));
    answer(connection_, std::string("SET residency = ") + residencies[round % 4]);
  }
  int64_t launches() const { return opened_[0] == nullptr ? 0 : opened_[0]->calls(DeviceCall::Launch); }

 private:
  std::vector<std::unique_ptr<DeviceDriver>> drivers(Device& device) {
    std::vector<std::unique_ptr<DeviceDriver>> drivers;
    drivers.push_back(std::make_unique<testing::AbsentDriver>());
    drivers.push_back(std::make_unique<testing::FaultDriver>(device, opened_));
    return drivers;
  }

  std::vector<FaultDevice*> opened_{nullptr};
  Database database_;
  Connection connection_;
};

TEST_F(UntrustedFiles, DevicesAgreeOnChangedValues) {
  if (!device_) GTEST_SKIP() << "no OpenCL device";
  const testing::DamagedFile damaged;
  int rounds = 0;
  int64_t launches = 0;
  const auto ask = [&](std::span<const uint8_t> edits) {
    MemoryFileSystem files;
    files.set_contents(testing::damaged_path, damaged.edit(edits));
    try {
      DeviceDatabase database(*device_, testing::damaged_path, files);
      answer(database.connection(), "SET device = cpu");
      const std::vector<std::string> expected = answers_of_one_core(database.connection());
      database.choose(rounds++);
      compare(database.connection(), "SET device = opencl", expected);
      launches += database.launches();
    } catch (const Error& error) {
      EXPECT_NE(error.state(), SqlState::internal_error) << error.message();
    }
  };
  ask({});
  EXPECT_GT(launches, 0);
  for_rounds(1, ask);
  std::cerr << launches << " kernels ran\n";
}

// Devices don't read Parquet files; they read tables that were made of them.
TEST_F(UntrustedFiles, DevicesAgreeOnTablesOfFalseStatistics) {
  if (!device_) GTEST_SKIP() << "no OpenCL device";
  const testing::StatisticsFile statistics;
  std::vector<std::string> right;
  int rounds = 0, tables = 0;
  int64_t launches = 0;
  const auto ask = [&](const std::vector<std::byte>& file, const char* device) {
    MemoryFileSystem files;
    files.set_contents(testing::statistics_path, file);
    DeviceDatabase database(*device_, ":memory:", files);
    answer(database.connection(), "SET tablet_rows = 64");
    const std::string made = answer(database.connection(), "CREATE TABLE x AS SELECT * FROM 'x.parquet'");
    EXPECT_FALSE(is_internal_error(made)) << made;
    if (is_error(made)) return;
    database.choose(rounds);
    answer(database.connection(), std::string("SET device = ") + device);
    std::vector<std::string> found;
    for (std::string question : testing::statistics_questions) {
      question.replace(question.find("'x.parquet'"), 11, "x");
      found.push_back(answer(database.connection(), question));
      EXPECT_FALSE(is_error(found.back())) << question << ": " << found.back();
    }
    if (right.empty()) right = found;
    EXPECT_EQ(found, right);
    ++tables;
    launches += database.launches();
  };
  ask(statistics.good(), "cpu");
  EXPECT_EQ(launches, 0);
  ask(statistics.good(), "opencl");
  EXPECT_GT(launches, 0);
  for_rounds(1, [&](std::span<const uint8_t> edits) {
    ++rounds;
    // One bound, which is often only wider than the truth: of several, few files would be read at all.
    ask(statistics.with_false_statistics(edits.first(3)), "opencl");
  });
  std::cerr << tables << " tables were made, " << launches << " kernels ran\n";
}

class FalseStatistics : public ::testing::Test {
 protected:
  std::vector<std::string> answers_of(const std::vector<std::byte>& file) {
    std::vector<std::string> answers;
    for (const char* question : testing::statistics_questions) answers.push_back(answer_of(file, question));
    return answers;
  }

  std::string answer_of(const std::vector<std::byte>& file, const std::string& question) {
    files_.set_contents(testing::statistics_path, file);
    return answer(connection_, question);
  }

  static constexpr int column_g = 0, column_l = 1;
  const testing::StatisticsFile statistics_;
  MemoryFileSystem files_;
  Database database_{":memory:", files_};
  Connection connection_{database_};
};

TEST_F(FalseStatistics, AreErrorsOrChangeNoAnswer) {
  const std::vector<std::string> right = answers_of(statistics_.good());
  for (const std::string& each : right) ASSERT_FALSE(is_error(each)) << each;
  int errors = 0;
  for_rounds(100, [&](std::span<const uint8_t> edits) {
    const std::vector<std::string> found = answers_of(statistics_.with_false_statistics(edits));
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_FALSE(is_internal_error(found[i])) << testing::statistics_questions[i] << ": " << found[i];
      errors += is_error(found[i]);
      if (!is_error(found[i])) {
        EXPECT_EQ(found[i], right[i]) << testing::statistics_questions[i];
      }
    }
  });
  EXPECT_GT(errors, 100);
}

TEST_F(FalseStatistics, DamagedFootersAreErrorsOrNoMatter) {
  for_rounds(200, [&](std::span<const uint8_t> edits) {
    for (const std::string& found : answers_of(statistics_.with_damaged_footer(edits)))
      EXPECT_FALSE(is_internal_error(found)) << found;
  });
}

// The array of groups would have six places.
TEST_F(FalseStatistics, AreNamedWithTheirPlace) {
  std::vector<std::byte> file = statistics_.good();
  ASSERT_TRUE(statistics_.set_bound(file, 0, column_l, true, 200));
  const std::string error =
      "error XX001 file 'x.parquet', column \"l\", row group 0: its values reach from 1 to 245, its statistics say "
      "from 1 to 200";
  EXPECT_EQ(answer_of(file, "SELECT l, count(*) FROM 'x.parquet' GROUP BY l"), error);
  // Also where they would leave the row group out.
  EXPECT_EQ(answer_of(file, "SELECT count(*) FROM 'x.parquet' WHERE l > 248"), error);
  EXPECT_FALSE(is_error(answer_of(file, "SELECT g, count(*) FROM 'x.parquet' WHERE g >= 0 GROUP BY g")));
}

// Whatever byte of the footer changes (one in four is tried): rows are as many as the file has, or there is an error.
TEST_F(FalseStatistics, RowsAreCountedInThePages) {
  const size_t bytes = statistics_.footer_bytes();
  std::mt19937_64 random(base_seed());
  for (uint64_t at = random() % 4; at < bytes; at += 4) {
    const uint8_t change = random() % 2 == 0 ? 0x02 : 0x81;
    const uint8_t edit[] = {static_cast<uint8_t>(at), static_cast<uint8_t>(at >> 8), change};
    const std::string found = answer_of(statistics_.with_damaged_footer(edit), "SELECT count(*) FROM 'x.parquet'");
    EXPECT_TRUE(found == "240|" || (is_error(found) && !is_internal_error(found)))
        << "byte " << at << " of the footer, seed " << base_seed() << ": " << found;
  }
}

}  // namespace
}  // namespace diptych
