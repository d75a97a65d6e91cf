#include "program/path_tree.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace diptych {
namespace {

// Against sets of all addresses that every path passes.
TEST(PathTree, SaysWhatEveryPathPasses) {
  constexpr uint32_t seed = 1;
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 300; ++round) {
    const auto count = static_cast<int32_t>(1 + random() % 60);
    const uint32_t share = 1 + random() % 9;
    PathTree tree(static_cast<size_t>(count));
    std::vector<std::set<int32_t>> passed(static_cast<size_t>(count));
    passed[0] = {0};
    const auto add = [&](int32_t from, int32_t to) {
      tree.add_path(from, to);
      std::set<int32_t> all = passed[static_cast<size_t>(from)];
      auto& at = passed[static_cast<size_t>(to)];
      if (!at.empty()) std::erase_if(all, [&](int32_t address) { return !at.contains(address); });
      all.insert(to);
      at = all;
    };
    for (int32_t from = 0; from + 1 < count; ++from) {
      if (!tree.is_reached(from)) continue;
      if (random() % 10 < share)
        add(from, from + 1 + static_cast<int32_t>(random() % static_cast<uint32_t>(count - from - 1)));
      if (random() % 10 != 0) add(from, from + 1);
    }
    for (int32_t address = 0; address < count; ++address) {
      const auto& expected = passed[static_cast<size_t>(address)];
      ASSERT_EQ(tree.is_reached(address), !expected.empty());
      for (int32_t other = 0; other < count && tree.is_reached(address); ++other)
        ASSERT_EQ(tree.is_reached(other) && tree.every_path_passes(address, other), expected.contains(other));
    }
  }
}

}  // namespace
}  // namespace diptych
