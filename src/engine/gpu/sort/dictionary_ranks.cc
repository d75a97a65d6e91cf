#include "engine/gpu/sort/dictionary_ranks.h"

#include <algorithm>
#include <numeric>

namespace diptych::gpu {

std::vector<uint32_t> dictionary_ranks(const Dictionary& dictionary) {
  // It may grow meanwhile; codes that are there now stay what they are.
  const uint32_t size = dictionary.size();
  std::vector<uint32_t> codes(size), ranks(size + 1);
  std::iota(codes.begin(), codes.end(), 0U);
  std::sort(codes.begin(), codes.end(), [&](uint32_t a, uint32_t b) { return dictionary[a] < dictionary[b]; });
  for (uint32_t i = 0; i < size; ++i) ranks[codes[i]] = i;
  return ranks;
}

}  // namespace diptych::gpu
