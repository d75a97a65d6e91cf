// The kernels that were generated last: a statement that comes again does not write the text of its sections anew,
// which takes 15 to 60 us and the kernel of a hot aggregate some hundred.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// A hash, of 128 bits, of all that the kernel of a section may depend on: sections of one signature have one kernel.
// Literals are part of it, so it tells more sections apart than there are kernels.
using SectionSignature = std::pair<uint64_t, uint64_t>;
SectionSignature section_signature(const Program& program, int32_t address, const SectionShape& shape);

class GeneratedKernels {
 public:
  // As section_signature(), of which the program's part is kept by its text's number.
  SectionSignature signature(const Program& program, int32_t address, const SectionShape& shape);
  // As generate_section().
  std::shared_ptr<const SectionKernel> get(const Program& program, int32_t address, const SectionShape& shape);

 private:
  template <typename Key, typename Value>
  std::optional<Value> find(const std::map<Key, Value>& kept, const Key& key);
  // What was kept before goes where it is as much as `most`.
  template <typename Key, typename Value>
  void keep(std::map<Key, Value>& kept, size_t most, const Key& key, const Value& value);

  std::mutex mutex_;                                                   // guards what follows
  std::map<std::pair<uint64_t, int32_t>, SectionSignature> programs_;  // by text_number and address
  std::map<SectionSignature, std::shared_ptr<const SectionKernel>> kernels_;
};

}  // namespace diptych::gpu
