#include "engine/gpu/gpu_engine.h"

#include "engine/gpu/input/section_input.h"
#include "engine/gpu/join/built_index.h"
#include "engine/gpu/section_run.h"

namespace diptych::gpu {

namespace {

// Without it the device sorts with kernels of its own.
std::unique_ptr<CubLibrary> open_cub(const Device& device) {
  std::string reason;
  return device.info().api == DeviceApi::Cuda ? CubLibrary::open(reason) : nullptr;
}

}  // namespace

GpuEngine::GpuEngine(Device& device) : device_(device), cub_(open_cub(device)), sort_(device, cub_.get()) {
  device_.when_short([this](int64_t bytes) { return device_columns_.drop(bytes); });
  // Inputs hold their segments.
  device_columns_.when_short([this] { inputs_.forget_past(); });
  pinned_columns_.when_short([this] { inputs_.forget_past(); });
  device_columns_.when_all_are_used([this] { inputs_.clear(); });
  pinned_columns_.when_all_are_used([this] { inputs_.clear(); });
}

std::optional<SectionResult> GpuEngine::run(const SectionTask& task, Residency residency, KernelChoice choice,
                                            std::string& reason) {
  if (residency == Residency::Mapped && !device_.info().can_map) {
    reason = "its kernels can't read the host's memory, which mapped asks for";
    return std::nullopt;
  }
  // Tablets that are taken from others can't be given back.
  if (task.queue != nullptr) correct_guesses(device_, task);
  int64_t passes = 1;
  std::optional<SectionResult> made = SectionRun(*this, task, residency, choice).run(reason);
  if (!made && reason == wrong_guess && correct_guesses(device_, task)) {
    ++passes;
    made = SectionRun(*this, task, residency, choice).run(reason);
  }
  if (made) made->profile.passes = passes;
  return made;
}

std::unique_ptr<StartedSection> GpuEngine::start(const SectionTask& task, Residency residency, KernelChoice choice) {
  auto run = std::make_unique<SectionRun>(*this, task, residency, choice);
  const SectionRun* before = nullptr;
  if (!task.started->empty()) before = static_cast<const SectionRun*>(task.started->rbegin()->second.get());
  if (!run->start(before)) return nullptr;
  return run;
}

void GpuEngine::follow(const std::shared_ptr<const TabletSource>& table) {
  const std::vector<InputCache::Earlier> read = inputs_.take_read(table);
  if (read.empty()) return;
  const std::shared_ptr<const void> entered = device_.enter();
  std::unique_ptr<Queue> queue = take_queue(nullptr);
  for (const auto& [columns, earlier] : read) {
    InputLoader loader(*this, *table, columns, Residency::Cached, *queue);
    if (auto input = loader.follow(earlier))
      inputs_.keep(table, columns, ColumnSegment::Place::Device, std::move(input), InputCache::For::Later);
  }
  give_back(std::move(queue));
}

void GpuEngine::forget() {
  inputs_.clear();
  for (SegmentCache* columns : {&device_columns_, &pinned_columns_}) {
    while (columns->drop(std::numeric_limits<int64_t>::max())) {
    }
  }
  std::vector<std::unique_ptr<Queue>> queues;
  std::lock_guard guard(mutex_);
  queues.swap(queues_);
}

void GpuEngine::set_memory_limit(int64_t bytes) {
  while (device_columns_.drop(std::numeric_limits<int64_t>::max())) {
  }
  device_.set_memory_limit(bytes);
}

std::unique_ptr<Queue> GpuEngine::take_queue(WorkReport* report) {
  std::unique_ptr<Queue> queue;
  {
    std::lock_guard guard(mutex_);
    if (!queues_.empty()) {
      queue = std::move(queues_.back());
      queues_.pop_back();
    }
  }
  if (!queue) queue = device_.make_queue();
  queue->report_to(report);
  return queue;
}

void GpuEngine::give_back(std::unique_ptr<Queue> queue) {
  queue->report_to(nullptr);
  std::lock_guard guard(mutex_);
  queues_.push_back(std::move(queue));
}

}  // namespace diptych::gpu
