#include "engine/gpu/output/text_room.h"

#include <algorithm>

#include "base/error.h"

namespace diptych::gpu {
namespace {

// What a string is expected to take, and what the first room may: a part of what the device has.
constexpr int64_t usual_bytes = 32, least_bytes = 4096, most_bytes = int64_t{1} << 30, part_of_memory = 16;

}  // namespace

void TextRoom::prepare(GpuEngine& engine, const SectionKernel& kernel, int64_t rows) {
  if (kernel.new_texts == 0 || buffer_.bytes() > 0) return;
  const int64_t most = std::max(std::min(most_bytes, engine.device().room() / part_of_memory), least_bytes);
  buffer_ =
      engine.device().allocate(std::clamp(rows * usual_bytes * kernel.new_texts, least_bytes, most), "new strings");
}

bool TextRoom::grow(GpuEngine& engine, const SectionKernel& kernel, const ControlBlock& control) {
  const auto wanted = static_cast<int64_t>(control.text_bytes);
  if (kernel.new_texts == 0 || wanted <= buffer_.bytes()) return false;
  if (growths_++ == kernel.new_texts)
    throw Error(SqlState::out_of_memory, "strings made of strings take more memory than expected");
  buffer_ = DeviceBuffer();
  buffer_ = engine.device().allocate(wanted, "new strings");
  return true;
}

}  // namespace diptych::gpu
