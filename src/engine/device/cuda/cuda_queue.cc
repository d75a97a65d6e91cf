#include "engine/device/cuda/cuda_queue.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace diptych::cuda {

CudaKernel::CudaKernel(std::shared_ptr<const Context> context, const void* cubin, const std::string& entry)
    : context_(std::move(context)) {
  const Entered api(*context_);
  api.check(api->ModuleLoadDataEx(&module_, cubin, 0, nullptr, nullptr), "loading a kernel");
  const CUresult result = api->ModuleGetFunction(&function_, module_, entry.c_str());
  if (result != success) api->ModuleUnload(module_);
  api.check(result, "looking up a kernel");
}

CudaKernel::~CudaKernel() {
  if (const Entered api(*context_, std::nothrow); api) api->ModuleUnload(module_);
}

// More than what every kernel has is given when it is asked for.
void CudaKernel::allow_room(const Entered& api, int64_t shared_room) const {
  constexpr int64_t usual_room = 48 * 1024;
  if (shared_room <= usual_room || shared_room <= allowed_room_) return;
  api.check(api->FuncSetAttribute(function_, function_most_dynamic_shared, static_cast<int>(shared_room)),
            "asking for shared memory");
  allowed_room_ = shared_room;
}

int CudaKernel::groups_per_unit(int group_size, int64_t shared_room) const {
  const Entered api(*context_);
  allow_room(api, shared_room);
  int groups = 0;
  api.check(
      api->OccupancyMaxActiveBlocksPerMultiprocessor(&groups, function_, group_size, static_cast<size_t>(shared_room)),
      "asking how many groups of a kernel run at once");
  return groups;
}

CudaEvent::CudaEvent(std::shared_ptr<const Context> context, CUstream stream) : context_(std::move(context)) {
  const Entered api(*context_);
  event_ = context_->take_event();
  const CUresult result = api->EventRecord(event_, stream);
  if (result != success) context_->give_back(event_);
  api.check(result, "recording an event");
}

CudaEvent::~CudaEvent() { context_->give_back(event_); }

CudaQueue::CudaQueue(std::shared_ptr<const Context> context) : context_(std::move(context)) {
  const Entered api(*context_);
  api.check(api->StreamCreate(&stream_, stream_non_blocking), "making a stream");
}

CudaQueue::~CudaQueue() {
  const Entered api(*context_, std::nothrow);
  if (!api) return;
  api->StreamSynchronize(stream_);
  api->StreamDestroy(stream_);
}

void CudaQueue::queue_copy_to_device(DeviceAddress to, const void* from, int64_t bytes) {
  if (bytes == 0) return;
  const Entered api(*context_);
  api.check(api->MemcpyHtoDAsync(to.value, from, static_cast<size_t>(bytes), stream_), "copying to the device");
}

void CudaQueue::queue_copy_to_host(void* to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return;
  const Entered api(*context_);
  api.check(api->MemcpyDtoHAsync(to, from.value, static_cast<size_t>(bytes), stream_), "copying from the device");
}

void CudaQueue::queue_copy_on_device(DeviceAddress to, DeviceAddress from, int64_t bytes) {
  if (bytes == 0) return;
  const Entered api(*context_);
  api.check(api->MemcpyDtoDAsync(to.value, from.value, static_cast<size_t>(bytes), stream_), "copying on the device");
}

void CudaQueue::queue_copy_lines_to_host(std::byte* to, DeviceAddress from, const Lines& lines) {
  // What the driver takes (CUDA driver API, CU_DEVICE_ATTRIBUTE_MAX_PITCH).
  constexpr int64_t most_pitch = INT32_MAX;
  if (lines.count == 0 || lines.bytes == 0) return;
  if (std::max(lines.to_pitch, lines.from_pitch) > most_pitch) return Queue::queue_copy_lines_to_host(to, from, lines);
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = memory_of_device;
  copy.srcDevice = from.value;
  copy.srcPitch = static_cast<size_t>(lines.from_pitch);
  copy.dstMemoryType = memory_of_host;
  copy.dstHost = to;
  copy.dstPitch = static_cast<size_t>(lines.to_pitch);
  copy.WidthInBytes = static_cast<size_t>(lines.bytes);
  copy.Height = static_cast<size_t>(lines.count);
  const Entered api(*context_);
  api.check(api->Memcpy2DAsync(&copy, stream_), "copying from the device");
}

void CudaQueue::queue_fill(DeviceAddress to, uint8_t value, int64_t bytes) {
  if (bytes == 0) return;
  const Entered api(*context_);
  api.check(api->MemsetD8Async(to.value, value, static_cast<size_t>(bytes), stream_), "filling memory");
}

void CudaQueue::queue_launch(const Kernel& kernel, int64_t groups, int group_size, std::span<const uint64_t> parameters,
                             int64_t shared_room) {
  if (groups == 0) return;
  check_invariant(groups > 0 && groups <= INT32_MAX, "a launch has at most 2^31 - 1 groups");
  const Entered api(*context_);
  // The two spaces of OpenCL; with CUDA an address is a pointer, and they stay unused.
  CUdeviceptr memory = 0, mapped = 0;
  void* arguments[] = {&memory, &mapped, const_cast<uint64_t*>(parameters.data())};
  const auto& function = static_cast<const CudaKernel&>(kernel);
  function.allow_room(api, shared_room);
  api.check(
      api->LaunchKernel(function.function(), static_cast<unsigned>(groups), 1, 1, static_cast<unsigned>(group_size), 1,
                        1, static_cast<unsigned>(shared_room), stream_, arguments, nullptr),
      "launching a kernel");
}

std::unique_ptr<DeviceEvent> CudaQueue::queue_record() { return std::make_unique<CudaEvent>(context_, stream_); }

void CudaQueue::queue_wait_for(const DeviceEvent& event) {
  const Entered api(*context_);
  api.check(api->StreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).event(), 0), "waiting for an event");
}

void CudaQueue::wait() {
  const Entered api(*context_);
  api.check(api->StreamSynchronize(stream_), "waiting for a stream");
}

bool CudaQueue::is_through() {
  const Entered api(*context_);
  const CUresult result = api->StreamQuery(stream_);
  if (result == error_not_ready) return false;
  api.check(result, "looking at a stream");
  return true;
}

bool CudaQueue::has_happened(const DeviceEvent& event) {
  const Entered api(*context_);
  const CUresult result = api->EventQuery(static_cast<const CudaEvent&>(event).event());
  if (result == error_not_ready) return false;
  api.check(result, "looking for an event");
  return true;
}

int64_t CudaQueue::nanoseconds_between(const DeviceEvent& first, const DeviceEvent& second) {
  const Entered api(*context_);
  float milliseconds = 0;
  api.check(api->EventElapsedTime(&milliseconds, static_cast<const CudaEvent&>(first).event(),
                                  static_cast<const CudaEvent&>(second).event()),
            "reading the time between two events");
  return std::llround(static_cast<double>(milliseconds) * 1e6);
}

void* CudaQueue::queue_handle() {
  context_->health()->check();
  context_->make_current();
  return stream_;
}

}  // namespace diptych::cuda
