// The kernels that were generated last: a statement that comes again does not write the text of its sections anew,
// which takes 15 to 60 us and the kernel of a hot aggregate some hundred.
//
// Thread safety: all members may be called by many threads at once.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

class GeneratedKernels {
 public:
  // As generate_section().
  std::shared_ptr<const SectionKernel> get(const Program& program, int32_t address, const SectionShape& shape);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const SectionKernel>> kernels_;  // by section_signature()
};

// All that the kernel of a section may depend on, as bytes: sections of one signature have one kernel. Literals are
// part of it, so it tells more sections apart than there are kernels.
std::string section_signature(const Program& program, int32_t address, const SectionShape& shape);

}  // namespace diptych::gpu
