#include "engine/device/host_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace diptych {
namespace {

TEST(HostPages, AreThereClearedAndInPlace) {
  // One page, as one thread takes it, and more than threads share evenly.
  for (const int64_t pages : {1, 3, 4, 5, 37}) {
    const int64_t bytes = pages * host_page_bytes;
    std::byte* data = allocate_host_pages(bytes);
    ASSERT_NE(data, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % host_page_bytes, 0U);
    EXPECT_TRUE(std::all_of(data, data + bytes, [](std::byte byte) { return byte == std::byte{0}; }));
    std::memset(data, 1, static_cast<size_t>(bytes));
    free_host_pages(data, bytes);
  }
}

TEST(HostPages, NoRoom) { EXPECT_EQ(allocate_host_pages(int64_t{1} << 60), nullptr); }

}  // namespace
}  // namespace diptych
