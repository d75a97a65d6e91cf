#include "engine/device/kernel_text.h"

#include <xxhash.h>

namespace diptych {

KernelText::KernelText(std::string text, std::string entry) : text_(std::move(text)), entry_(std::move(entry)) {
  const uint64_t seed = XXH3_64bits(entry_.data(), entry_.size());
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text_.data(), text_.size(), seed);
  hash_ = {hash.high64, hash.low64};
}

}  // namespace diptych
