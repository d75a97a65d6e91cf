// Bytes of strings made by opcodes. They live until reset(), which keeps the memory.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace diptych::cpu {

class TextArena {
 public:
  // `bytes` bytes that stay where they are until reset().
  char* allocate(size_t bytes) {
    if (bytes > left_) next_chunk(bytes);
    char* place = cursor_;
    cursor_ += bytes;
    left_ -= bytes;
    return place;
  }
  // Gives back the end of what the last allocate() returned.
  void shrink(size_t bytes) {
    cursor_ -= bytes;
    left_ += bytes;
  }
  void reset();
  size_t bytes() const { return total_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    size_t size;
  };
  void next_chunk(size_t bytes);

  std::vector<Chunk> chunks_;
  size_t used_chunks_ = 0;
  char* cursor_ = nullptr;
  size_t left_ = 0;
  size_t total_ = 0;
};

}  // namespace diptych::cpu
