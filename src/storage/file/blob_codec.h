// How meta data becomes bytes: the parts of catalog, tables and directories one after the other, without padding.
//
//   varint   7 bits a byte, lowest first, the high bit set on all but the last       300 -> ac 02
//   signed   zigzag, then varint: 0, -1, 1, -2 ... -> 0, 1, 2, 3 ...
//   fixed    8 bytes, little endian (checksums)
//   text     varint length, bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/type.h"

namespace diptych {

class BlobWriter {
 public:
  void byte(uint8_t value) { bytes_.push_back(static_cast<std::byte>(value)); }
  void varint(uint64_t value) { wide_varint(value); }
  void count(size_t value) { varint(value); }
  void signed_varint(int64_t value) { wide(value); }
  // A signed integer of up to 128 bits.
  void wide(int128_t value);
  void fixed(uint64_t value);
  void text(std::string_view value);
  void raw(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  // Back to as many bytes as there were.
  void cut(size_t bytes) { bytes_.resize(bytes); }

 private:
  void wide_varint(uint128_t value);
  std::vector<std::byte> bytes_;
};

// Reads what a BlobWriter wrote. Every member: XX001, naming the blob, when the bytes end too early or make no sense.
class BlobReader {
 public:
  BlobReader(std::span<const std::byte> bytes, std::string what) : bytes_(bytes), what_(std::move(what)) {}

  uint8_t byte();
  // At most `limit`.
  uint8_t byte_up_to(uint8_t limit);
  uint64_t varint();
  // A number of things that each take at least one more byte.
  size_t count();
  int64_t signed_varint();
  int128_t wide();
  uint64_t fixed();
  std::string text();
  // The next `count` bytes; a view.
  std::span<const std::byte> raw(size_t count);
  bool is_at_end() const { return at_ == bytes_.size(); }
  // All bytes must have been read.
  void finish() const;
  [[noreturn]] void fail(const char* problem) const;

 private:
  uint128_t wide_varint(int most_bits);

  std::span<const std::byte> bytes_;
  std::string what_;
  size_t at_ = 0;
};

}  // namespace diptych
