#include "storage/file/blob_codec.h"

#include "base/error.h"

namespace diptych {

void BlobWriter::wide_varint(uint128_t value) {
  while (value >= 0x80) {
    byte(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  byte(static_cast<uint8_t>(value));
}

void BlobWriter::wide(int128_t value) {
  wide_varint((static_cast<uint128_t>(value) << 1) ^ static_cast<uint128_t>(value >> 127));
}

void BlobWriter::fixed(uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) byte(static_cast<uint8_t>(value >> shift));
}

void BlobWriter::text(std::string_view value) {
  count(value.size());
  for (char c : value) byte(static_cast<uint8_t>(c));
}

void BlobReader::fail(const char* problem) const {
  throw Error(SqlState::data_corrupted, what_ + ": " + problem + " at byte " + std::to_string(at_));
}

uint8_t BlobReader::byte() {
  if (at_ == bytes_.size()) fail("unexpected end");
  return static_cast<uint8_t>(bytes_[at_++]);
}

uint8_t BlobReader::byte_up_to(uint8_t limit) {
  uint8_t value = byte();
  if (value > limit) fail("impossible value");
  return value;
}

uint128_t BlobReader::wide_varint(int most_bits) {
  uint128_t value = 0;
  for (int shift = 0; shift < most_bits; shift += 7) {
    uint8_t next = byte();
    value |= static_cast<uint128_t>(next & 0x7f) << shift;
    if (next < 0x80) return value;
  }
  fail("number too long");
}

uint64_t BlobReader::varint() { return static_cast<uint64_t>(wide_varint(64)); }

size_t BlobReader::count() {
  uint64_t value = varint();
  if (value > bytes_.size() - at_) fail("impossible count");
  return static_cast<size_t>(value);
}

int128_t BlobReader::wide() {
  uint128_t value = wide_varint(128);
  return static_cast<int128_t>(value >> 1) ^ -static_cast<int128_t>(value & 1);
}

int64_t BlobReader::signed_varint() { return static_cast<int64_t>(wide()); }

uint64_t BlobReader::fixed() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 8) value |= static_cast<uint64_t>(byte()) << shift;
  return value;
}

std::string BlobReader::text() {
  size_t length = count();
  std::string value(reinterpret_cast<const char*>(bytes_.data()) + at_, length);
  at_ += length;
  return value;
}

std::span<const std::byte> BlobReader::raw(size_t count) {
  if (count > bytes_.size() - at_) fail("unexpected end");
  at_ += count;
  return bytes_.subspan(at_ - count, count);
}

void BlobReader::finish() const {
  if (at_ != bytes_.size()) fail("more bytes than expected");
}

}  // namespace diptych
