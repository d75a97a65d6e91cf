#include "engine/gpu/rows/copied_strings.h"

#include <algorithm>

#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/output/text_fetch.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {

CopiedStrings copy_strings(Device& device, Queue& queue, DeviceAddress rows, int64_t count) {
  const int64_t tiles = (count + text_tile_rows - 1) / text_tile_rows;
  // All in one piece.
  const auto piece_rows = static_cast<uint64_t>(tiles * text_tile_rows), all = static_cast<uint64_t>(count);
  CopiedStrings made;
  made.starts = device.allocate((count + 1) * 8, "starts of strings");
  // The counter of tiles, their status, then where the piece starts and ends.
  const int64_t cleared = (1 + tiles) * 8;
  const DeviceBuffer state = device.allocate(cleared + 16, "starts of strings");
  const PinnedBuffer report = device.allocate_pinned(16, "starts of strings");
  const WhenDone when_done{queue};
  queue.fill(state.address(), 0, cleared);
  const DeviceAddress ends = state.address() + cleared;
  launch_text_kernel(device, queue, "device/text_starts.h", "dk_text_starts", count,
                     {rows.value, all, made.starts.address().value, ends.value, piece_rows, state.address().value,
                      (state.address() + 8).value});
  queue.copy_to_host(report.data(), ends, 16);
  queue.synchronize();
  const uint64_t bytes = reinterpret_cast<const uint64_t*>(report.data())[1];
  if (bytes > UINT32_MAX)
    throw NoHostMemory(SqlState::out_of_memory, "the strings of a column take more than 4 GB in one piece");
  made.heap = padded((count + 1) * 4);
  made.heap_bytes = static_cast<int64_t>(bytes);
  made.strings = device.allocate(made.heap + std::max<int64_t>(made.heap_bytes, 8), "strings of rows");
  launch_text_kernel(device, queue, "device/text_copy.h", "dk_text_copy", count,
                     {rows.value, all, made.starts.address().value, (made.strings.address() + made.heap).value,
                      made.strings.address().value, piece_rows, piece_rows + 1});
  return made;
}

}  // namespace diptych::gpu
