#include "engine/gpu/output/report_buffer.h"

namespace diptych::gpu {

void ReportBuffer::allocate(GpuEngine& engine, int64_t bytes, const char* what) {
  if (pinned_.bytes() >= bytes) return;
  pinned_ = engine.device().allocate_pinned(bytes, what);
  const DeviceInfo& info = engine.device().info();
  if (!info.can_map || info.is_host) device_ = engine.device().allocate(bytes, what);
}

void ReportBuffer::ask(Queue& queue) {
  if (device_.bytes() > 0)
    queue.copy_to_host(pinned_.data(), device_.address(), pinned_.bytes());
  else
    queue.count_in_place(0, pinned_.bytes());
}

}  // namespace diptych::gpu
