#include "engine/gpu/gpu_engine.h"

#include "engine/gpu/section_run.h"

namespace diptych::gpu {

const char* name_of(Residency residency) {
  constexpr const char* names[] = {"serial", "streamed", "mapped", "cached"};
  return names[static_cast<size_t>(residency)];
}

GpuEngine::GpuEngine(Device& device) : device_(device) {}

std::optional<SectionResult> GpuEngine::run(const SectionTask& task, Residency residency, std::string& reason) {
  return SectionRun(*this, task, residency).run(reason);
}

std::unique_ptr<Queue> GpuEngine::take_queue() {
  {
    std::lock_guard guard(mutex_);
    if (!queues_.empty()) {
      auto queue = std::move(queues_.back());
      queues_.pop_back();
      return queue;
    }
  }
  return device_.make_queue();
}

void GpuEngine::give_back(std::unique_ptr<Queue> queue) {
  std::lock_guard guard(mutex_);
  queues_.push_back(std::move(queue));
}

}  // namespace diptych::gpu
