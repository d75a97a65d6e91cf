#include "tablet/encoding/bit_packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace diptych {
namespace {

template <typename Code>
void check_width(std::mt19937_64& random) {
  int width = sizeof(Code);
  for (int bits = 1; bits <= std::min(8 * width, most_packed_bits); ++bits) {
    for (int64_t values : {1, 7, 8, 9, 15, 16, 17, 255, 1000}) {
      std::vector<Code> codes(static_cast<size_t>(values)), back(codes.size());
      for (Code& code : codes) code = static_cast<Code>(random() & ((uint64_t{1} << bits) - 1));
      codes.back() = static_cast<Code>((uint64_t{1} << bits) - 1);
      const std::byte* bytes = reinterpret_cast<const std::byte*>(codes.data());
      EXPECT_EQ(bits_needed(bytes, width, values), bits);
      std::vector<std::byte> packed(packed_bytes(static_cast<uint64_t>(values), bits));
      pack_bits(bytes, width, values, bits, packed.data());
      unpack_bits(packed, bits, width, values, reinterpret_cast<std::byte*>(back.data()));
      ASSERT_EQ(back, codes) << "width " << width << " bits " << bits << " values " << values;
    }
  }
}

TEST(BitPacking, EveryWidthComesBack) {
  std::mt19937_64 random(1);
  check_width<uint8_t>(random);
  check_width<uint16_t>(random);
  check_width<uint32_t>(random);
  check_width<uint64_t>(random);
}

}  // namespace
}  // namespace diptych
