#include "storage/file/blob_codec.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace diptych {
namespace {

TEST(BlobCodecTest, EverythingComesBack) {
  BlobWriter writer;
  const int128_t wide[] = {0,
                           1,
                           -1,
                           63,
                           64,
                           -64,
                           -65,
                           std::numeric_limits<int64_t>::min(),
                           static_cast<int128_t>(~uint128_t{0} >> 1),
                           -static_cast<int128_t>(~uint128_t{0} >> 1) - 1};
  for (int128_t value : wide) writer.wide(value);
  writer.varint(300);
  writer.varint(std::numeric_limits<uint64_t>::max());
  writer.fixed(0x0123456789abcdef);
  writer.text("");
  writer.text(std::string("a\0b", 3));
  writer.byte(7);
  BlobReader reader(writer.bytes(), "test");
  for (int128_t value : wide) EXPECT_TRUE(reader.wide() == value);
  EXPECT_EQ(reader.varint(), 300u);
  EXPECT_EQ(reader.varint(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(reader.fixed(), 0x0123456789abcdefu);
  EXPECT_EQ(reader.text(), "");
  EXPECT_EQ(reader.text(), std::string("a\0b", 3));
  EXPECT_EQ(reader.byte_up_to(7), 7);
  reader.finish();
}

TEST(BlobCodecTest, TooShortTooLongImpossible) {
  BlobWriter writer;
  writer.varint(1000);
  for (int i = 0; i < 20; ++i) writer.byte(0xff);
  auto fresh = [&] { return BlobReader(writer.bytes(), "test"); };
  EXPECT_THROW(fresh().finish(), Error);
  EXPECT_THROW(fresh().count(), Error);
  EXPECT_THROW(fresh().text(), Error);
  EXPECT_THROW(fresh().raw(23), Error);
  EXPECT_THROW(fresh().byte_up_to(3), Error);
  BlobReader reader = fresh();
  reader.varint();
  EXPECT_THROW(reader.varint(), Error);
  EXPECT_THROW(BlobReader({}, "test").byte(), Error);
}

}  // namespace
}  // namespace diptych
