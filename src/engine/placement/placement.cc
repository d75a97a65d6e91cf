#include "engine/placement/placement.h"

#include <spdlog/spdlog.h>

#include "base/error.h"

namespace diptych {
namespace {

gpu::Residency residency_of(const std::string& name) {
  if (name == "serial") return gpu::Residency::Serial;
  if (name == "streamed") return gpu::Residency::Streamed;
  if (name == "mapped") return gpu::Residency::Mapped;
  return gpu::Residency::Cached;
}

// Rows that a section before has made lie in the CPU's memory and are few; they are no table's.
bool is_table(const TabletSource& source) { return source.tablet_count() == 0 || source.tablet_id(0) != 0; }

}  // namespace

std::optional<SectionResult> Placement::run(const SectionTask& task, const PlacementChoice& choice,
                                            std::string& fallback) {
  if (choice.device == "cpu" || choice.device == "auto" || !is_table(*task.source)) return std::nullopt;
  Device* device = devices_.find(choice.device);
  std::string reason;
  try {
    auto result = engine_for(*device, choice).run(task, residency_of(choice.residency), reason);
    if (result) return result;
  } catch (const Error& error) {
    // The device's own troubles: the CPU does it.
    if (error.state() != SqlState::out_of_memory && error.state() != SqlState::system_error) throw;
    reason = error.message();
  }
  note_fallback(device->info().id(), reason, choice);
  fallback = std::move(reason);
  return std::nullopt;
}

gpu::GpuEngine& Placement::engine_for(Device& device, const PlacementChoice& choice) {
  std::lock_guard guard(mutex_);
  auto& engine = engines_[&device];
  if (!engine) engine = std::make_unique<gpu::GpuEngine>(device);
  const int64_t limit = choice.device_memory_limit > 0 ? choice.device_memory_limit : -1;
  if (device.memory_limit() != limit) device.set_memory_limit(limit);
  return *engine;
}

void Placement::note_fallback(const std::string& device, const std::string& reason, const PlacementChoice& choice) {
  if (choice.fallback == "error") throw Error(SqlState::feature_not_supported, device + " can't run this: " + reason);
  if (choice.fallback == "warn") spdlog::warn("{}: runs on the CPU: {}", device, reason);
  std::lock_guard guard(mutex_);
  ++fallbacks_[reason];
}

std::map<std::string, int64_t> Placement::fallbacks() const {
  std::lock_guard guard(mutex_);
  return fallbacks_;
}

}  // namespace diptych
