#include "tablet/dictionary.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace diptych {
namespace {

TEST(Dictionary, CodesStandForStrings) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary[0], "");
  EXPECT_EQ(dictionary.find_or_append("SHIP"), 0u);
  EXPECT_EQ(dictionary.find_or_append(""), 1u);
  EXPECT_EQ(dictionary.find_or_append("SHIP"), 0u);
  EXPECT_EQ(dictionary.find("AIR"), std::nullopt);
  EXPECT_EQ(dictionary.size(), 2u);
  EXPECT_EQ(dictionary[0], "SHIP");
}

TEST(Dictionary, RefusesLongStringsAndTooMany) {
  Dictionary dictionary;
  EXPECT_TRUE(dictionary.find_or_append(std::string(Dictionary::max_string_bytes, 'x')));
  EXPECT_FALSE(dictionary.find_or_append(std::string(Dictionary::max_string_bytes + 1, 'x')));
  for (uint32_t i = 1; i < Dictionary::max_entries; ++i) ASSERT_TRUE(dictionary.find_or_append(std::to_string(i)));
  EXPECT_FALSE(dictionary.find_or_append("one more"));
  EXPECT_EQ(dictionary.find_or_append("77"), 77u);
}

TEST(Dictionary, WritersAndReadersAtOnce) {
  Dictionary dictionary;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&dictionary, t] {
      for (int i = 0; i < 2000; ++i) {
        std::string text = std::to_string((i * (t + 1)) % 1500);
        uint32_t code = *dictionary.find_or_append(text);
        ASSERT_EQ(dictionary[code], text);
        ASSERT_EQ(dictionary[dictionary.size() - 1].empty(), false);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (uint32_t code = 0; code < dictionary.size(); ++code) EXPECT_EQ(dictionary.find(dictionary[code]), code);
}

}  // namespace
}  // namespace diptych
