// Sorting on every device there is, with CUB and without, compared with std::stable_sort.
#include "engine/gpu/sort/device_sort.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "engine/device/device_list.h"
#include "engine/gpu/sort/key_fields.h"

namespace diptych::gpu {
namespace {

using Columns = std::vector<std::vector<uint64_t>>;

std::vector<uint32_t> expected_order(const Columns& words, size_t rows) {
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    for (const auto& word : words) {
      if (word[a] != word[b]) return word[a] < word[b];
    }
    return false;
  });
  return order;
}

class DeviceSortTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string none = "no usable device";
    for (const std::string& absent : list_.absent()) none += "; " + absent;
    for (const DeviceInfo& info : list_.infos()) {
      if (info.unusable.empty())
        devices_.push_back(list_.find(info.id()));
      else
        none += "; " + info.id() + ": " + info.unusable;
    }
    if (devices_.empty()) GTEST_SKIP() << none;
    cub_ = CubLibrary::open(no_cub_);
    std::cout << "seed " << seed_ << "\n";
  }

  // With CUB where it can be used, and without.
  void on_each_device(const std::function<void(const DeviceSort&, Device&, Queue&)>& check) {
    for (Device* device : devices_) {
      SCOPED_TRACE(device->info().id() + " " + device->info().name);
      const auto queue = device->make_queue();
      check(DeviceSort(*device, nullptr), *device, *queue);
      if (cub_ == nullptr || device->info().api != DeviceApi::Cuda) continue;
      SCOPED_TRACE("CUB");
      check(DeviceSort(*device, cub_.get()), *device, *queue);
    }
  }

  template <typename T>
  static DeviceBuffer upload(Device& device, Queue& queue, const std::vector<T>& values) {
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
    DeviceBuffer buffer = device.allocate(std::max<int64_t>(bytes, 8), "test");
    if (bytes > 0) queue.copy_to_device(buffer.address(), values.data(), bytes);
    queue.synchronize();
    return buffer;
  }

  template <typename T>
  static std::vector<T> download(Queue& queue, DeviceAddress from, size_t count) {
    std::vector<T> values(count);
    if (count > 0) queue.copy_to_host(values.data(), from, static_cast<int64_t>(count * sizeof(T)));
    queue.synchronize();
    return values;
  }

  static std::pair<std::vector<DeviceBuffer>, std::vector<DeviceAddress>> upload_all(Device& device, Queue& queue,
                                                                                     const Columns& words) {
    std::pair<std::vector<DeviceBuffer>, std::vector<DeviceAddress>> all;
    for (const auto& word : words) {
      all.first.push_back(upload(device, queue, word));
      all.second.push_back(all.first.back().address());
    }
    return all;
  }

  static void expect_order(Queue& queue, DeviceAddress order, const std::vector<uint32_t>& expected, int64_t limit) {
    const auto got = download<uint32_t>(queue, order, expected.size());
    const auto [wrong, right] = std::ranges::mismatch(got, expected);
    EXPECT_TRUE(wrong == got.end()) << expected.size() << " rows, limit " << limit << ", first difference at "
                                    << wrong - got.begin();
  }

  void expect_sorted(const Columns& words, size_t rows, int64_t limit = -1) {
    std::vector<uint32_t> expected = expected_order(words, rows);
    if (limit >= 0) expected.resize(std::min(rows, static_cast<size_t>(limit)));
    on_each_device([&](const DeviceSort& sort, Device& device, Queue& queue) {
      const auto [buffers, addresses] = upload_all(device, queue, words);
      const DeviceBuffer order = sort.sort(queue, {addresses, {}, static_cast<int64_t>(rows)}, limit, no_check);
      ASSERT_GE(order.bytes(), static_cast<int64_t>(expected.size() * 4));
      expect_order(queue, order.address(), expected, limit);
    });
  }

  // The first rows, of which only the device knows how many there are.
  void expect_first(const Columns& words, size_t rows, int64_t limit) {
    std::vector<uint32_t> expected = expected_order(words, rows);
    expected.resize(std::min(rows, static_cast<size_t>(limit)));
    expected.resize(static_cast<size_t>(limit), 0);
    on_each_device([&](const DeviceSort& sort, Device& device, Queue& queue) {
      const auto [buffers, addresses] = upload_all(device, queue, words);
      const DeviceBuffer count = upload(device, queue, std::vector<uint64_t>{rows});
      const auto room = static_cast<int64_t>(words[0].size());
      const TopRows first = sort.find_first(queue, {addresses, count.address(), room}, limit);
      expect_order(queue, first.order(), expected, limit);
    });
  }

  std::vector<uint64_t> random_words(size_t rows, uint64_t most) {
    std::uniform_int_distribution<uint64_t> values(0, most);
    std::vector<uint64_t> words(rows);
    for (uint64_t& word : words) word = values(random_);
    return words;
  }

  static inline const std::function<void()> no_check = [] {};
  uint64_t seed_ = std::random_device()();
  std::mt19937_64 random_{seed_};
  DeviceList list_;
  std::vector<Device*> devices_;
  std::string no_cub_;
  std::unique_ptr<CubLibrary> cub_;
};

TEST_F(DeviceSortTest, AnyNumberOfRows) {
  for (const size_t rows : {0, 1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 100000}) {
    expect_sorted({random_words(rows, UINT64_MAX)}, rows);
    expect_sorted({random_words(rows, 20)}, rows);
  }
}

TEST_F(DeviceSortTest, FirstRowsOfAnyNumber) {
  for (const size_t rows : {0, 1, 2, 1023, 1024, 1025, 2047, 2048, 2049, 4097, 100000}) {
    for (const int64_t limit : {1, 2, 10, 1023, 1024}) {
      // Some room is left, whose rows do not count.
      const size_t room = rows + 1 + rows / 4;
      expect_first({random_words(room, UINT64_MAX)}, rows, limit);
      expect_first({random_words(room, 20)}, rows, limit);
      expect_first({random_words(room, 2), random_words(room, 100), random_words(room, UINT64_MAX)}, rows, limit);
      expect_first({std::vector<uint64_t>(room, 7), std::vector<uint64_t>(room, UINT64_MAX)}, rows, limit);
      expect_first({std::vector<uint64_t>(room, 7), random_words(room, 1)}, rows, limit);
    }
  }
}

// Rows that differ late, in few bits, in one bit, or hardly ever.
TEST_F(DeviceSortTest, FirstRowsOfSkewedWords) {
  constexpr size_t rows = 50000;
  for (const int64_t limit : {1, 100, 1024}) {
    std::vector<uint64_t> ascending(rows), descending(rows), rare(rows, uint64_t{1} << 63), clustered(rows);
    for (size_t row = 0; row < rows; ++row) {
      ascending[row] = row;
      descending[row] = UINT64_MAX - row;
      clustered[row] = (row % 3) << 60 | row / 3 % 5;
    }
    rare[rows / 2] = 1;
    rare[rows - 1] = 0;
    expect_first({ascending}, rows, limit);
    expect_first({descending}, rows, limit);
    expect_first({rare}, rows, limit);
    expect_first({clustered, rare}, rows, limit);
    expect_first({rare, clustered, descending}, rows, limit);
    expect_first(Columns(16, rare), rows, limit);
  }
}

TEST_F(DeviceSortTest, EqualReversedAndSkewedKeys) {
  constexpr size_t rows = 20000;
  expect_sorted({std::vector<uint64_t>(rows, 42)}, rows);
  std::vector<uint64_t> reversed(rows), skewed(rows, 7);
  std::iota(reversed.rbegin(), reversed.rend(), uint64_t{1} << 40);
  expect_sorted({reversed}, rows);
  for (size_t i = 0; i < rows; i += 100) skewed[i] = random_();
  expect_sorted({skewed}, rows);
  expect_sorted({}, rows);
}

TEST_F(DeviceSortTest, ExtremeKeys) {
  constexpr size_t rows = 5000;
  std::vector<uint64_t> ends(rows), high(rows);
  for (size_t i = 0; i < rows; ++i) {
    ends[i] = i % 3 == 0 ? 0 : UINT64_MAX;
    high[i] = (random_() & 3) << 62;
  }
  expect_sorted({ends}, rows);
  expect_sorted({high}, rows);
  expect_sorted({high, ends}, rows);
}

TEST_F(DeviceSortTest, ManyWords) {
  constexpr size_t rows = 10000;
  // Packed into one key; too wide for one; with words that do not differ.
  expect_sorted({random_words(rows, 1), random_words(rows, 4000), random_words(rows, 1 << 20)}, rows);
  expect_sorted({random_words(rows, 3), random_words(rows, UINT64_MAX), random_words(rows, UINT64_MAX)}, rows);
  expect_sorted({random_words(rows, 3), std::vector<uint64_t>(rows, 9), random_words(rows, 5)}, rows);
  Columns bits;
  for (int i = 0; i < 14; ++i) bits.push_back(random_words(rows, 1));
  expect_sorted(bits, rows);
}

TEST_F(DeviceSortTest, Limits) {
  constexpr size_t rows = 100000;
  const Columns wide = {random_words(rows, UINT64_MAX)};
  for (const int64_t limit : {0, 1, 10, 1000, 12500, 12501, 99999, 100000, 200000}) expect_sorted(wide, rows, limit);
  expect_sorted({random_words(rows, 3)}, rows, 10);
  expect_sorted({random_words(rows, 3), random_words(rows, UINT64_MAX)}, rows, 10);
  expect_sorted({std::vector<uint64_t>(rows, 42)}, rows, 10);
  // Nearly all keys in one digit of the selection.
  std::vector<uint64_t> skewed = random_words(rows, 1000);
  skewed[5] = UINT64_MAX;
  expect_sorted({skewed}, rows, 100);
}

TEST_F(DeviceSortTest, Gather) {
  constexpr size_t rows = 3001;
  std::vector<uint32_t> order(rows);
  for (uint32_t& row : order) row = static_cast<uint32_t>(random_() % rows);
  for (const size_t width : {1, 2, 4, 8, 16}) {
    std::vector<std::byte> values(rows * width), expected(rows * width);
    for (std::byte& value : values) value = static_cast<std::byte>(random_());
    for (size_t i = 0; i < rows; ++i) std::memcpy(&expected[i * width], &values[order[i] * width], width);
    on_each_device([&](const DeviceSort& sort, Device& device, Queue& queue) {
      const DeviceBuffer from = upload(device, queue, values), numbers = upload(device, queue, order);
      const DeviceBuffer to = device.allocate(static_cast<int64_t>(rows * width), "test");
      sort.gather(queue, static_cast<int>(width), from.address(), numbers.address(), rows, to.address());
      EXPECT_TRUE(download<std::byte>(queue, to.address(), rows * width) == expected) << width << " bytes";
    });
  }
}

TEST(KeyFields, NarrowWordsShareAKey) {
  EXPECT_TRUE(pack_keys(std::vector<uint64_t>{0, 0}).empty());
  const auto keys = pack_keys(std::vector<uint64_t>{1, 0, 0xFF0, UINT64_MAX, uint64_t{1} << 63});
  ASSERT_EQ(keys.size(), 3U);
  ASSERT_EQ(keys[0].fields.size(), 2U);
  EXPECT_EQ(keys[0].bits, 9);
  EXPECT_EQ(keys[0].fields[1].word, 2U);
  EXPECT_EQ(keys[0].fields[1].shift, 4);
  EXPECT_EQ(keys[0].fields[1].bits, 8);
  EXPECT_EQ(keys[1].bits, 64);
  EXPECT_EQ(keys[2].fields[0].shift, 63);
}

TEST(KeyFields, AKeyHasAtMostSoManyFields) {
  const auto keys = pack_keys(std::vector<uint64_t>(most_key_fields + 1, 1));
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].fields.size(), most_key_fields);
}

}  // namespace
}  // namespace diptych::gpu
