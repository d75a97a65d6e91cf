#include "engine/cpu/text_arena.h"

#include <algorithm>

namespace diptych::cpu {
namespace {

constexpr size_t chunk_bytes = size_t{64} << 10;

}  // namespace

void TextArena::reset() {
  used_chunks_ = 0;
  cursor_ = nullptr;
  left_ = 0;
}

void TextArena::next_chunk(size_t bytes) {
  while (used_chunks_ < chunks_.size() && chunks_[used_chunks_].size < bytes) ++used_chunks_;
  if (used_chunks_ == chunks_.size()) {
    const size_t size = std::max(bytes, chunk_bytes);
    chunks_.push_back({std::make_unique_for_overwrite<char[]>(size), size});
    total_ += size;
  }
  cursor_ = chunks_[used_chunks_].data.get();
  left_ = chunks_[used_chunks_].size;
  ++used_chunks_;
}

}  // namespace diptych::cpu
