#include "md5.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace slt {
namespace {

using State = std::array<uint32_t, 4>;

// Left rotations of the four rounds (RFC 1321, section 3.4).
constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

// The constants are defined as the integer part of 2^32 |sin(i + 1)|.
std::array<uint32_t, 64> make_constants() {
  std::array<uint32_t, 64> constants{};
  for (int i = 0; i < 64; ++i)
    constants[i] = static_cast<uint32_t>(std::floor(std::fabs(std::sin(i + 1.0)) * 4294967296.0));
  return constants;
}

void add_block(State& state, const unsigned char* block) {
  static const std::array<uint32_t, 64> constants = make_constants();
  uint32_t words[16];
  std::memcpy(words, block, sizeof words);
  auto [a, b, c, d] = state;
  for (int i = 0; i < 64; ++i) {
    const int round = i / 16;
    uint32_t mixed = 0;
    int word = 0;
    switch (round) {
      case 0: mixed = (b & c) | (~b & d), word = i; break;
      case 1: mixed = (d & b) | (~d & c), word = (5 * i + 1) % 16; break;
      case 2: mixed = b ^ c ^ d, word = (3 * i + 5) % 16; break;
      default: mixed = c ^ (b | ~d), word = (7 * i) % 16; break;
    }
    const uint32_t turned = std::rotl(a + mixed + constants[i] + words[word], rotations[round][i % 4]);
    a = d, d = c, c = b, b += turned;
  }
  state = {state[0] + a, state[1] + b, state[2] + c, state[3] + d};
}

}  // namespace

std::string md5_hex(std::string_view text) {
  State state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
  std::string padded(text);
  const uint64_t bits = text.size() * 8;
  padded.push_back(static_cast<char>(0x80));
  while (padded.size() % 64 != 56) padded.push_back(0);
  padded.append(reinterpret_cast<const char*>(&bits), sizeof bits);
  for (size_t at = 0; at < padded.size(); at += 64)
    add_block(state, reinterpret_cast<const unsigned char*>(&padded[at]));
  std::string hex;
  for (const uint32_t word : state) {
    for (int byte = 0; byte < 4; ++byte) {
      const unsigned value = (word >> (8 * byte)) & 255;
      hex += "0123456789abcdef"[value >> 4];
      hex += "0123456789abcdef"[value & 15];
    }
  }
  return hex;
}

}  // namespace slt
