#include "engine/device/opencl/opencl_queue.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "engine/device/opencl/opencl_compiler.h"

namespace diptych::opencl {

OpenClQueue::OpenClQueue(std::shared_ptr<const Context> context, Memory& memory)
    : context_(std::move(context)), api_(*context_->api), memory_(memory) {
  cl_int status = success;
  queue_ = api_.CreateCommandQueue(context_->context, context_->device, queue_profiling_enable, &status);
  context_->check(status, "making a queue");
}

OpenClQueue::~OpenClQueue() {
  api_.Finish(queue_);
  api_.ReleaseCommandQueue(queue_);
}

void OpenClQueue::queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  context_->health->check();
  auto [memory, offset] = memory_.at(to);
  context_->check_done(
      api_.EnqueueWriteBuffer(queue_, memory, 0, offset, static_cast<size_t>(bytes), from, 0, nullptr, nullptr),
      "copying to the device");
}

void OpenClQueue::queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return;
  context_->health->check();
  auto [memory, offset] = memory_.at(from);
  context_->check_done(
      api_.EnqueueReadBuffer(queue_, memory, 0, offset, static_cast<size_t>(bytes), to, 0, nullptr, nullptr),
      "copying from the device");
}

void OpenClQueue::queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return;
  context_->health->check();
  auto [to_memory, to_offset] = memory_.at(to);
  auto [from_memory, from_offset] = memory_.at(from);
  context_->check_done(api_.EnqueueCopyBuffer(queue_, from_memory, to_memory, from_offset, to_offset,
                                              static_cast<size_t>(bytes), 0, nullptr, nullptr),
                       "copying on the device");
}

void OpenClQueue::queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) {
  if (bytes == 0) return;
  context_->health->check();
  auto [memory, offset] = memory_.at(to);
  // The pattern's length must divide the offset and the length; a long one is much faster with PoCL.
  std::array<uint8_t, 128> pattern;
  pattern.fill(value);
  const auto size = static_cast<size_t>(bytes);
  const size_t long_part = offset % pattern.size() == 0 ? size / pattern.size() * pattern.size() : 0;
  if (long_part > 0)
    context_->check(
        api_.EnqueueFillBuffer(queue_, memory, pattern.data(), pattern.size(), offset, long_part, 0, nullptr, nullptr),
        "filling memory");
  if (long_part < size)
    context_->check(api_.EnqueueFillBuffer(queue_, memory, pattern.data(), 1, offset + long_part, size - long_part, 0,
                                           nullptr, nullptr),
                    "filling memory");
}

void OpenClQueue::queue_launch(const Kernel& kernel, int64_t groups, int group_size,
                               std::span<const uint64_t> parameters, int64_t) {
  if (groups == 0) return;
  context_->health->check();
  memory_.make_arena();
  cl_mem memory = memory_.memory();
  cl_mem mapped = memory_.mapped();
  static_cast<const OpenClKernel&>(kernel).launch(queue_, memory, mapped != nullptr ? mapped : memory, groups,
                                                  group_size, parameters);
}

std::unique_ptr<DeviceEvent> OpenClQueue::queue_record() {
  cl_event event = nullptr;
  context_->health->check();
  context_->check(api_.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &event), "recording an event");
  auto owner = std::make_unique<OpenClEvent>(context_, event);
  // Another queue that waits for it may not be the one that sets it going (OpenCL 1.2, section 5.13).
  context_->check_done(api_.Flush(queue_), "flushing a queue");
  return owner;
}

void OpenClQueue::queue_begin() {
  context_->health->check();
  context_->check_done(api_.Flush(queue_), "flushing a queue");
}

// The queue is in order: what comes behind the marker waits with it.
void OpenClQueue::queue_wait_for(const DeviceEvent& event) {
  const cl_event awaited = static_cast<const OpenClEvent&>(event).event();
  context_->health->check();
  context_->check(api_.EnqueueMarkerWithWaitList(queue_, 1, &awaited, nullptr), "waiting for an event");
}

void OpenClQueue::wait() {
  // Also where another thread has found the device lost: what this queue still copies would come to memory that is
  // freed.
  const cl_int status = api_.Finish(queue_);
  context_->health->check();
  context_->check_done(status, "waiting for a queue");
}

bool OpenClQueue::has_happened(const DeviceEvent& event) {
  cl_int status = 0;
  context_->check(api_.GetEventInfo(static_cast<const OpenClEvent&>(event).event(), event_execution_status,
                                    sizeof(status), &status, nullptr),
                  "looking for an event");
  // Below 0: its work has failed.
  context_->check_done(std::min(status, success), "running what an event waits for");
  return status == execution_complete;
}

int64_t OpenClQueue::nanoseconds_between(const DeviceEvent& first, const DeviceEvent& second) {
  cl_ulong times[2] = {};
  const DeviceEvent* events[2] = {&first, &second};
  for (int i = 0; i < 2; i++) {
    const cl_int status = api_.GetEventProfilingInfo(static_cast<const OpenClEvent*>(events[i])->event(),
                                                     profiling_command_end, sizeof(cl_ulong), &times[i], nullptr);
    // NVIDIA's driver has no time for some markers.
    if (status == profiling_info_not_available) return 0;
    context_->check(status, "reading the time of an event");
  }
  return static_cast<int64_t>(times[1] - times[0]);
}

}  // namespace diptych::opencl
