// Codes at rest in a fixed number of bits each; in memory they are whole bytes. Eight values take `bits` bytes, so
// every group of eight starts on a byte:
//
//   3 bits   value   0   1   2   3 ...      byte 0: 22111000   byte 1: 54443332 ...   (digit: the value a bit belongs
//   to)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace diptych {

inline constexpr int most_packed_bits = 56;  // a value, wherever in its byte it starts, is within one 64-bit load

inline uint64_t packed_bytes(uint64_t values, int bits) { return (values + 7) / 8 * static_cast<uint64_t>(bits); }

// Bits that the greatest of the codes needs. width: bytes of a code, 1, 2, 4 or 8.
int bits_needed(const std::byte* codes, int width, int64_t values);

// packed: packed_bytes() long. bits: 1 to most_packed_bits, enough for every code.
void pack_bits(const std::byte* codes, int width, int64_t values, int bits, std::byte* packed);

// The inverse. Bits that don't fit the width are dropped.
void unpack_bits(std::span<const std::byte> packed, int bits, int width, int64_t values, std::byte* codes);

}  // namespace diptych
