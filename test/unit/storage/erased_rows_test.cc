#include "storage/erased_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"

namespace diptych {
namespace {

using Numbers = std::vector<int64_t>;

// Rows by names that never change.
class Model {
 public:
  explicit Model(int64_t rows) {
    for (int64_t i = 0; i < rows; ++i) append();
  }
  void append() { rows.push_back(next_++); }
  void erase(const Numbers& numbers) {
    for (auto number = numbers.rbegin(); number != numbers.rend(); ++number) rows.erase(rows.begin() + *number);
  }
  Numbers some(std::mt19937_64& random, size_t most) const {
    Numbers numbers;
    for (size_t i = 0; i < rows.size(); ++i)
      if (random() % rows.size() < most) numbers.push_back(static_cast<int64_t>(i));
    return numbers;
  }

  Numbers rows;

 private:
  int64_t next_ = 0;
};

TEST(ErasedRows, AreTheDifferenceOfTwoVersions) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Model now(20);
    ErasedRows erased;
    std::vector<Numbers> versions = {now.rows};
    for (uint64_t version = 1; version < 12; ++version) {
      if (const Numbers numbers = now.some(random, 3); !numbers.empty()) {
        now.erase(numbers);
        erased.add(version, numbers);
      }
      for (auto more = random() % 4; more > 0; --more) now.append();
      versions.push_back(now.rows);
    }
    for (uint64_t version = 0; version < versions.size(); ++version) {
      const Numbers& then = versions[version];
      Numbers expected;
      for (size_t i = 0; i < then.size(); ++i)
        if (std::ranges::find(now.rows, then[i]) == now.rows.end()) expected.push_back(static_cast<int64_t>(i));
      EXPECT_EQ(erased.gone_since(version, static_cast<int64_t>(then.size())), expected);
    }
  }
}

TEST(ErasedRows, OfOldVersionsAreForgotten) {
  ErasedRows erased;
  erased.add(3, {1});
  EXPECT_EQ(erased.gone_since(2, 5), Numbers{1});
  erased.forget(4);
  EXPECT_EQ(erased.gone_since(3, 5), std::nullopt);
  EXPECT_EQ(erased.gone_since(4, 5), Numbers{});
  for (uint64_t version = 5; version < 105; ++version) erased.add(version, {0});
  EXPECT_EQ(erased.gone_since(4, 200), std::nullopt);
  EXPECT_EQ(erased.gone_since(102, 200), (Numbers{0, 1}));
  erased.add(200, Numbers(ErasedRows::most_numbers + 1));
  EXPECT_EQ(erased.gone_since(199, 500), std::nullopt);
  EXPECT_EQ(erased.gone_since(200, 500), Numbers{});
  erased.add(201, {});
  EXPECT_EQ(erased.gone_since(200, 500), std::nullopt);
}

// A transaction takes rows out of an older version, and appends some, while the latest one has changed otherwise.
TEST(OlderRows, AreWhereTheLatestVersionHasThem) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Model latest(30);
    Model seen = latest;
    const Numbers gone = latest.some(random, 6);
    latest.erase(gone);
    for (auto more = random() % 4; more > 0; --more) latest.append();
    for (int64_t i = 0; i < 10; ++i) seen.append();
    for (int64_t own = 1000; own < 1003; ++own) latest.rows.push_back(own);
    seen.rows.resize(30);
    for (int64_t own = 1000; own < 1003; ++own) seen.rows.push_back(own);
    OlderRows rows(gone, 30, static_cast<int64_t>(latest.rows.size()) - 3);
    for (int step = 0; step < 4; ++step) {
      Numbers there, not_there;
      for (const int64_t number : seen.some(random, 5)) {
        const int64_t row = seen.rows[static_cast<size_t>(number)];
        (std::ranges::find(latest.rows, row) != latest.rows.end() ? there : not_there).push_back(number);
      }
      for (const int64_t number : not_there) EXPECT_THROW(rows.in_latest({&number, 1}), Error);
      const Numbers numbers = rows.in_latest(there);
      ASSERT_EQ(numbers.size(), there.size());
      for (size_t i = 0; i < there.size(); ++i)
        EXPECT_EQ(latest.rows[static_cast<size_t>(numbers[i])], seen.rows[static_cast<size_t>(there[i])]);
      latest.erase(numbers);
      seen.erase(there);
      rows.erase(there);
    }
  }
}

}  // namespace
}  // namespace diptych
