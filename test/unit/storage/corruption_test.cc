// Damaged files: an error that says where, or the right answer; never a wrong one and never a crash.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "base/fault_file_system.h"
#include "base/memory_budget.h"
#include "storage/workload.h"

namespace diptych::test {
namespace {

constexpr int flips = 10000;

class CorruptionTest : public testing::Test {
 protected:
  void SetUp() override {
    MemoryBudget budget(int64_t{64} << 20);
    auto store = Store::open_file(files_, budget, "db", small_tablets);
    for (const Transaction& transaction : std::vector<Transaction>{{{create("t", true), append("t", 0, 300)}},
                                                                   {{append("t", 300, 40), create("u")}},
                                                                   {{append("t", 340, 10), append("u", 5, 100)}},
                                                                   {{append("t", 350, 1)}},
                                                                   {{erase("t", 20, 200, 7), erase("u", 3, 50, 2)}}}) {
      run(*store, transaction);
      contents_ = contents_after(contents_, transaction);
    }
    store.reset();  // which leaves no log
    ASSERT_EQ(files_.paths(), std::vector<std::string>{"db"});
    bytes_ = files_.contents("db");
  }

  // The SQLSTATE of opening and reading the whole file with these bytes, which must give the right contents when there
  // is none.
  std::string read(std::vector<std::byte> bytes) {
    MemoryFileSystem files;
    files.set_contents("db", std::move(bytes));
    MemoryBudget budget(int64_t{64} << 20);
    return state_of([&] {
      auto store = Store::open_file(files, budget, "db", small_tablets);
      EXPECT_EQ(read_all(*store->snapshot()), contents_);
    });
  }

  std::string verify(std::vector<std::byte> bytes) {
    MemoryFileSystem files;
    files.set_contents("db", std::move(bytes));
    MemoryBudget budget(int64_t{64} << 20);
    return state_of([&] { Store::open_file(files, budget, "db", small_tablets)->verify(); });
  }

  MemoryFileSystem files_;
  Contents contents_;
  std::vector<std::byte> bytes_;
};

TEST_F(CorruptionTest, RandomFlips) {
  uint64_t seed = base_seed();
  SCOPED_TRACE("DIPTYCH_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int errors = 0;
  for (int i = 0; i < flips; ++i) {
    std::vector<std::byte> damaged = bytes_;
    size_t at = random() % damaged.size();
    damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
    SCOPED_TRACE("byte " + std::to_string(at));
    std::string state = read(damaged);
    ASSERT_TRUE(state.empty() || state == "XX001") << state;
    ASSERT_FALSE(HasFailure());
    errors += !state.empty();
  }
  std::cout << "seed " << seed << ": " << flips << " flips, " << errors << " errors\n";
  EXPECT_GT(errors, flips / 10);
}

TEST_F(CorruptionTest, EveryHeaderByte) {
  for (size_t at = 0; at < 4 * 4096; at += at % 4096 < 128 ? 1 : 61) {
    std::vector<std::byte> damaged = bytes_;
    damaged[at] ^= std::byte{0x40};
    SCOPED_TRACE("byte " + std::to_string(at));
    ASSERT_EQ(read(damaged), "");  // each header is there twice
  }
}

TEST_F(CorruptionTest, LostPages) {
  for (size_t page = 0; page < bytes_.size() / 4096; ++page) {
    std::vector<std::byte> damaged = bytes_;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * 4096), 4096, std::byte{0});
    SCOPED_TRACE("page " + std::to_string(page));
    std::string state = read(damaged);
    ASSERT_TRUE(state.empty() || state == "XX001") << state;
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(CorruptionTest, BothCopiesOfAHeader) {
  for (size_t slot : {0, 1}) {
    std::vector<std::byte> damaged = bytes_;
    damaged[slot * 8192 + 20] ^= std::byte{1};
    damaged[slot * 8192 + 4096 + 20] ^= std::byte{1};
    EXPECT_EQ(read(damaged), "XX001");
  }
}

TEST_F(CorruptionTest, CutFile) {
  for (size_t size = 1; size < bytes_.size(); size += 1371) {
    std::vector<std::byte> damaged(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(size));
    SCOPED_TRACE("cut to " + std::to_string(size));
    ASSERT_EQ(read(damaged), "XX001");
  }
}

TEST_F(CorruptionTest, NoDatabase) {
  EXPECT_EQ(read(std::vector<std::byte>(100, std::byte{'x'})), "XX001");
  EXPECT_EQ(read(std::vector<std::byte>(100000, std::byte{'x'})), "XX001");
  EXPECT_EQ(read(std::vector<std::byte>(100000)), "XX001");
}

TEST_F(CorruptionTest, VerifyFindsWhatReadingFinds) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::byte> damaged = bytes_;
    damaged[random() % damaged.size()] ^= std::byte{1};
    if (read(damaged) == "XX001") {
      ASSERT_EQ(verify(damaged), "XX001");
    }
  }
}

TEST_F(CorruptionTest, MessageNamesThePlace) {
  int named = 0;
  for (size_t at = 4 * 4096; at < bytes_.size(); at += 41) {
    std::vector<std::byte> damaged = bytes_;
    damaged[at] ^= std::byte{1};
    MemoryFileSystem files;
    files.set_contents("db", std::move(damaged));
    MemoryBudget budget(int64_t{64} << 20);
    try {
      read_all(*Store::open_file(files, budget, "db", small_tablets)->snapshot());
    } catch (const Error& error) {
      EXPECT_NE(error.message().find("database file \"db\": "), std::string::npos) << error.message();
      EXPECT_NE(error.message().find("page"), std::string::npos) << error.message();
      named += error.message().find("table \"t\", tablet 2, column 3") != std::string::npos;
    }
  }
  EXPECT_GT(named, 0);
}

}  // namespace
}  // namespace diptych::test
