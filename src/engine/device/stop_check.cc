#include "engine/device/stop_check.h"

namespace diptych {
namespace {

thread_local const StopCheck* innermost = nullptr;

}  // namespace

StopCheck::StopCheck(std::function<void()> check) : check_(std::move(check)), before_(std::exchange(innermost, this)) {}

StopCheck::~StopCheck() { innermost = before_; }

const StopCheck* StopCheck::here() { return innermost; }

}  // namespace diptych
