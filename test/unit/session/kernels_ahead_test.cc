// Kernels of a program that are compiled before its sections need them, and those that an INSERT must not change.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "session/faulty_database.h"

namespace diptych::testing {
namespace {

using Kernels = std::set<std::pair<std::string, std::string>>;  // entry, text

// A section over the table, and one over the distinct values that it has found.
const std::string two_sections = "SELECT k, count(DISTINCT l), sum(i) FROM t GROUP BY k";

class KernelsAheadTest : public OpenClDeviceTest {};

// What a device was asked to compile.
class AskedKernels {
 public:
  explicit AskedKernels(FaultDevice& device) {
    device.when_compiling([this](const KernelText& kernel, bool) {
      std::lock_guard guard(mutex_);
      kernels_.insert({kernel.entry(), kernel.text()});
    });
  }
  Kernels all() {
    std::lock_guard guard(mutex_);
    return kernels_;
  }

 private:
  std::mutex mutex_;
  Kernels kernels_;
};

// Each waits for the other: neither section has run when both are compiled.
TEST_F(KernelsAheadTest, KernelsOfTwoSectionsAreCompiledAtTheSameTime) {
  FaultyDatabase database(*device_, "cached");
  const std::vector<std::string> expected = database.run_on("cpu", two_sections);
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::string> entries;
  bool have_met = true;
  database.device().compile_at_once(2);
  database.device().when_compiling([&](const KernelText& kernel, bool) {
    std::unique_lock lock(mutex);
    entries.insert(kernel.entry());
    changed.notify_all();
    have_met &= changed.wait_for(lock, std::chrono::seconds(60), [&] { return entries.size() == 2; });
  });
  EXPECT_EQ(database.run_on("opencl", two_sections), expected);
  EXPECT_TRUE(have_met);
  EXPECT_EQ(entries.size(), 2U);
  EXPECT_EQ(database.fallbacks(), 0);
}

// Whatever runs beside sections has been asked for with the same text.
class NeededKernelsTest : public OpenClDeviceTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(NeededKernelsTest, AreAskedForAhead) {
  FaultyDatabase database(*device_, "cached");
  const std::vector<std::string> expected = database.run_on("cpu", GetParam());
  std::mutex mutex;
  std::condition_variable changed;
  Kernels ahead;
  size_t needed = 0;
  std::string missing;
  database.device().compile_at_once(most_compiles_at_once);
  database.device().when_compiling([&](const KernelText& kernel, bool is_ahead) {
    std::unique_lock lock(mutex);
    if (is_ahead) {
      ahead.insert({kernel.entry(), kernel.text()});
      changed.notify_all();
      throw Error(SqlState::system_error, "left to who needs it");
    }
    // A section takes its own from those that wait.
    if (kernel.entry().starts_with("section_")) return;
    ++needed;
    const auto is_there = [&] { return ahead.contains({kernel.entry(), kernel.text()}); };
    if (!changed.wait_for(lock, std::chrono::seconds(10), is_there)) missing += kernel.entry() + " ";
  });
  EXPECT_EQ(database.run_on("opencl", GetParam()), expected);
  EXPECT_EQ(missing, "");
  EXPECT_GT(needed, 0U);
  EXPECT_EQ(database.fallbacks(), 0);
}

INSTANTIATE_TEST_SUITE_P(Queries, NeededKernelsTest,
                         ::testing::Values("SELECT h, count(*), sum(l), max(e) FROM t WHERE k < 5 GROUP BY h",
                                           "SELECT count(DISTINCT h), sum(i) FROM t",
                                           "SELECT k, count(DISTINCT h), sum(i) FROM t GROUP BY k",
                                           "SELECT l, h, n FROM t ORDER BY n, l",
                                           "SELECT i, e FROM t ORDER BY l LIMIT 5", "SELECT h FROM t WHERE i > 4000"));

TEST_F(KernelsAheadTest, AStatementOnTheCpuCompilesNothing) {
  FaultyDatabase database(*device_, "cached");
  database.device().compile_at_once(2);
  AskedKernels asked(database.device());
  database.run_on("cpu", "SELECT k, sum(i) FROM t GROUP BY k");
  database.run_on("auto", "SELECT k, sum(i) FROM t GROUP BY k");
  EXPECT_TRUE(asked.all().empty());
}

// The section that needs the kernel tells, with the same words.
TEST_F(KernelsAheadTest, AnErrorIsThatOfTheSectionThatNeedsTheKernel) {
  std::map<std::string, int64_t> fallbacks;
  for (const int at_once : {1, 2}) {
    FaultyDatabase database(*device_, "cached");
    const std::vector<std::string> expected = database.run_on("cpu", two_sections);
    database.device().compile_at_once(at_once);
    database.device().when_compiling([&](const KernelText& kernel, bool) {
      if (kernel.entry() == "section_20") throw Error(SqlState::system_error, "a kernel is wrong");
    });
    EXPECT_EQ(database.run_on("opencl", two_sections), expected);
    if (at_once == 1) fallbacks = database.database().engines().fallbacks();
    EXPECT_EQ(database.database().engines().fallbacks(), fallbacks);
    EXPECT_EQ(database.fallbacks(), 1);
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

// The lines of a text that no other of its entry has.
std::string new_lines(const Kernels& before, const std::string& entry, const std::string& text) {
  std::set<std::string> known;
  for (const auto& [other, lines] : before) {
    if (other == entry) known.merge([](auto all) { return std::set(all.begin(), all.end()); }(lines_of(lines)));
  }
  std::string found;
  for (const std::string& line : lines_of(text))
    if (!known.contains(line)) found += line + "\n";
  return found;
}

struct InsertCase {
  const char* name;
  const char* query;
};

class InsertCompilesNothingTest : public OpenClDeviceTest,
                                  public ::testing::WithParamInterface<std::tuple<InsertCase, const char*>> {
 protected:
  void SetUp() override {
    OpenClDeviceTest::SetUp();
    skip_unless_it_has(std::get<const char*>(GetParam()));
  }
};

// New least and greatest values in as many bytes, alone, of which a tablet would need none, and beside others.
constexpr const char* inserts[] = {
    "(-100, -1, -7, -5.25, 'name 3', 'long')",
    "(-101, -1, -8, -6.25, 'name 3', 'long'), (5099, 4, 1002, 93.75, 'name 3', 'long')",
    "(5100, 6, 1010, 99.75, 'name 3', 'long'), (1, 0, 0, 0.75, 'name 3', 'long'), (2, 1, 1, 1.75, 'name 4', 'long')"};

TEST_P(InsertCompilesNothingTest, WithNewBoundsAndAnotherEstimate) {
  const char* const query = std::get<InsertCase>(GetParam()).query;
  const std::string residency = std::get<const char*>(GetParam());
  FaultyDatabase database(*device_, residency);
  database.set("fallback = error");
  database.set("device = cpu");
  database.set("tablet_rows = 65536");
  // One tablet of all rows.
  database.run_on("cpu", "CREATE TABLE u AS SELECT * FROM t");
  AskedKernels asked(database.device());
  database.run_on("opencl", query);
  const Kernels before = asked.all();
  EXPECT_FALSE(before.empty());
  for (const std::string rows : inserts) {
    database.run_on("cpu", "INSERT INTO u VALUES " + rows);
    EXPECT_EQ(database.run_on("opencl", query), database.run_on("cpu", query));
  }
  for (const auto& [entry, text] : asked.all())
    if (!before.contains({entry, text})) ADD_FAILURE() << entry << "\n" << new_lines(before, entry, text);
}

INSTANTIATE_TEST_SUITE_P(
    Queries, InsertCompilesNothingTest,
    ::testing::Combine(
        ::testing::Values(InsertCase{"Filter", "SELECT i, n FROM u WHERE l < 500 AND i >= 17"},
                          InsertCase{"Totals", "SELECT count(*), sum(l), max(n), avg(i) FROM u WHERE k <> 3"},
                          InsertCase{"DenseGroups", "SELECT k, count(*), sum(l), min(i) FROM u GROUP BY k"},
                          InsertCase{"ManyDenseGroups", "SELECT i, count(*), sum(l) FROM u GROUP BY i"},
                          InsertCase{"PartitionedGroups",
                                     "SELECT i * 1000000007::bigint, count(*), sum(l) FROM u GROUP BY 1"},
                          InsertCase{"Sort", "SELECT l, i FROM u WHERE k < 3 ORDER BY l, i DESC"},
                          InsertCase{"FirstRows", "SELECT l, i FROM u ORDER BY n, i LIMIT 10"},
                          InsertCase{"DistinctGroups", "SELECT k, count(DISTINCT l), sum(i) FROM u GROUP BY k"},
                          InsertCase{"Strings", "SELECT h, e FROM u WHERE l < 500 AND e <> 'name 4'"},
                          InsertCase{"GroupsOfStrings", "SELECT h, count(*), max(n) FROM u GROUP BY h"}),
        ::testing::Values("cached", "streamed", "mapped")),
    [](const auto& info) {
      return std::get<InsertCase>(info.param).name + std::string("_") + std::get<const char*>(info.param);
    });

}  // namespace
}  // namespace diptych::testing
