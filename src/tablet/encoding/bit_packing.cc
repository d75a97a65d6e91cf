#include "tablet/encoding/bit_packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace diptych {
namespace {

template <typename Code>
uint64_t or_of_all(const std::byte* bytes, int64_t values) {
  const Code* codes = reinterpret_cast<const Code*>(bytes);
  Code all = 0;
  for (int64_t i = 0; i < values; ++i) all = static_cast<Code>(all | codes[i]);
  return all;
}

template <typename Code>
void pack(const Code* codes, int64_t values, int bits, std::byte* packed) {
  uint64_t pending = 0;
  int pending_bits = 0;
  std::byte* out = packed;
  for (int64_t i = 0; i < values; ++i) {
    pending |= static_cast<uint64_t>(codes[i]) << pending_bits;
    pending_bits += bits;
    while (pending_bits >= 8) {
      *out++ = static_cast<std::byte>(pending);
      pending >>= 8;
      pending_bits -= 8;
    }
  }
  std::byte* end = packed + packed_bytes(static_cast<uint64_t>(values), bits);
  while (out < end) {
    *out++ = static_cast<std::byte>(pending);
    pending >>= 8;
  }
}

// One group: eight loads at places known when compiled, so the loop over groups is branch-free straight-line code.
template <int bits, typename Code, size_t... position>
void unpack_group(const std::byte* packed, Code* codes, std::index_sequence<position...>) {
  constexpr uint64_t mask = (uint64_t{1} << bits) - 1;
  (([&] {
     uint64_t word;
     std::memcpy(&word, packed + position * bits / 8, sizeof(word));
     codes[position] = static_cast<Code>((word >> (position * bits % 8)) & mask);
   }()),
   ...);
}

// Groups whose loads would pass the end of the packed bytes go through a copy.
template <int bits, typename Code>
void unpack(std::span<const std::byte> packed, int64_t values, std::byte* target) {
  Code* codes = reinterpret_cast<Code*>(target);
  constexpr auto positions = std::make_index_sequence<8>();
  int64_t groups = values / 8;
  int64_t unsafe_bytes = 7 * bits / 8 + 8;
  int64_t safe = (static_cast<int64_t>(packed.size()) - unsafe_bytes) / bits;
  safe = std::clamp<int64_t>(safe, 0, groups);
  for (int64_t g = 0; g < safe; ++g) unpack_group<bits>(packed.data() + g * bits, codes + g * 8, positions);
  for (int64_t g = safe; g * 8 < values; ++g) {
    std::byte bytes[most_packed_bits + 8] = {};
    Code group[8];
    std::memcpy(bytes, packed.data() + g * bits, bits);
    unpack_group<bits>(bytes, group, positions);
    std::memcpy(codes + g * 8, group, static_cast<size_t>(std::min<int64_t>(8, values - g * 8)) * sizeof(Code));
  }
}

using Unpack = void (*)(std::span<const std::byte>, int64_t, std::byte*);

template <typename Code, size_t... index>
constexpr std::array<Unpack, sizeof...(index)> unpack_table(std::index_sequence<index...>) {
  return {&unpack<static_cast<int>(index) + 1, Code>...};
}

}  // namespace

int bits_needed(const std::byte* codes, int width, int64_t values) {
  switch (width) {
    case 1: return static_cast<int>(std::bit_width(or_of_all<uint8_t>(codes, values)));
    case 2: return static_cast<int>(std::bit_width(or_of_all<uint16_t>(codes, values)));
    case 4: return static_cast<int>(std::bit_width(or_of_all<uint32_t>(codes, values)));
    default: return static_cast<int>(std::bit_width(or_of_all<uint64_t>(codes, values)));
  }
}

void pack_bits(const std::byte* codes, int width, int64_t values, int bits, std::byte* packed) {
  switch (width) {
    case 1: return pack(reinterpret_cast<const uint8_t*>(codes), values, bits, packed);
    case 2: return pack(reinterpret_cast<const uint16_t*>(codes), values, bits, packed);
    case 4: return pack(reinterpret_cast<const uint32_t*>(codes), values, bits, packed);
    default: return pack(reinterpret_cast<const uint64_t*>(codes), values, bits, packed);
  }
}

void unpack_bits(std::span<const std::byte> packed, int bits, int width, int64_t values, std::byte* codes) {
  constexpr auto all_bits = std::make_index_sequence<most_packed_bits>();
  static constexpr auto table8 = unpack_table<uint8_t>(all_bits);
  static constexpr auto table16 = unpack_table<uint16_t>(all_bits);
  static constexpr auto table32 = unpack_table<uint32_t>(all_bits);
  static constexpr auto table64 = unpack_table<uint64_t>(all_bits);
  const auto& table = width == 1 ? table8 : width == 2 ? table16 : width == 4 ? table32 : table64;
  table[static_cast<size_t>(bits - 1)](packed, values, codes);
}

}  // namespace diptych
