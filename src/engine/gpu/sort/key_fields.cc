#include "engine/gpu/sort/key_fields.h"

#include <bit>

namespace diptych::gpu {

std::vector<SortKey> pack_keys(std::span<const uint64_t> varying) {
  std::vector<SortKey> keys;
  for (size_t word = 0; word < varying.size(); ++word) {
    if (varying[word] == 0) continue;
    const int shift = std::countr_zero(varying[word]);
    const int bits = static_cast<int>(std::bit_width(varying[word])) - shift;
    if (keys.empty() || keys.back().bits + bits > 64 || keys.back().fields.size() == most_key_fields)
      keys.emplace_back();
    keys.back().fields.push_back({word, shift, bits});
    keys.back().bits += bits;
  }
  return keys;
}

}  // namespace diptych::gpu
