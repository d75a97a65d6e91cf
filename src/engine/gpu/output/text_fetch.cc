#include "engine/gpu/output/text_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/gpu/output/host_memory.h"
#include "engine/gpu/section_kernel.h"
#include "engine/gpu/when_done.h"
#include "kernel/kernel_library.h"

namespace diptych::gpu {
namespace {

static_assert(text_tile_rows == 4 * group_size);
// Entries of a piece's offsets (the next starts on a multiple of 256 bytes).
constexpr int64_t piece_stride = TextFetch::piece_rows + 64;
// Enough for each compute unit to hide its memory's latency.
constexpr int64_t groups_per_unit = 8;

}  // namespace

const KernelText& text_kernel(const char* file, const char* entry, size_t words) {
  static std::mutex mutex;
  static std::map<std::pair<std::string_view, size_t>, KernelText> known;
  const std::lock_guard guard(mutex);
  KernelText& kernel = known[{entry, words}];
  if (kernel.entry().empty()) {
    const std::string head =
        fmt::format("#define DK_GROUP_SIZE {}\n#define DK_PARAMETER_WORDS {}\n", group_size, words);
    kernel = {head + kernel_text({file}), entry};
  }
  return kernel;
}

void add_text_kernels(std::vector<KernelText>& kernels) {
  kernels.push_back(text_kernel("device/text_starts.h", "dk_text_starts", 7));
  kernels.push_back(text_kernel("device/text_copy.h", "dk_text_copy", 7));
}

void launch_text_kernel(Device& device, Queue& queue, const char* file, const char* entry, int64_t rows,
                        const std::vector<uint64_t>& words) {
  std::shared_ptr<const Kernel> kernel;
  {
    const PartScope scope(queue.clock(), TimePart::Compile);
    kernel = device.compile(text_kernel(file, entry, words.size()));
  }
  const int64_t groups = std::min((rows + text_tile_rows - 1) / text_tile_rows,
                                  std::max(1, device.info().compute_units) * groups_per_unit);
  queue.launch(*kernel, groups, group_size, words);
}

TextFetch::TextFetch(Device& device, Queue& queue, DeviceAddress rows, int64_t count)
    : device_(device), queue_(queue), count_(count) {
  find_starts(rows);
  copy(rows);
}

void TextFetch::find_starts(DeviceAddress rows) {
  const int64_t tiles = (count_ + text_tile_rows - 1) / text_tile_rows;
  starts_ = device_.allocate((count_ + 1) * 8, "starts of strings");
  // The counter of tiles, their status, then what the host reads.
  const int64_t cleared = (1 + tiles) * 8, piece_bytes = (pieces() + 1) * 8;
  const DeviceBuffer state = device_.allocate(cleared + piece_bytes, "starts of strings");
  const WhenDone when_done{queue_};
  queue_.fill(state.address(), 0, cleared);
  const DeviceAddress piece_starts = state.address() + cleared;
  launch_text_kernel(device_, queue_, "device/text_starts.h", "dk_text_starts", count_,
                     {rows.value, static_cast<uint64_t>(count_), starts_.address().value, piece_starts.value,
                      static_cast<uint64_t>(piece_rows), state.address().value, (state.address() + 8).value});
  piece_starts_.resize(static_cast<size_t>(pieces()) + 1);
  queue_.copy_to_host(piece_starts_.data(), piece_starts, piece_bytes);
  queue_.synchronize();
}

void TextFetch::copy(DeviceAddress rows) {
  for (size_t i = 0; i + 1 < piece_starts_.size(); ++i) {
    if (piece_starts_[i + 1] - piece_starts_[i] > UINT32_MAX)
      throw NoHostMemory(SqlState::out_of_memory, "the strings of 65536 rows of the result take more than 4 GB");
  }
  const auto heap_bytes = static_cast<int64_t>(piece_starts_.back());
  const int64_t offset_bytes = pieces() * piece_stride * 4;
  const DeviceBuffer made = device_.allocate(offset_bytes + std::max<int64_t>(heap_bytes, 8), "strings of the result");
  const WhenDone when_done{queue_};
  // What lies between the offsets of two pieces is copied with them.
  if (pieces() > 1) queue_.fill(made.address(), 0, offset_bytes);
  launch_text_kernel(
      device_, queue_, "device/text_copy.h", "dk_text_copy", count_,
      {rows.value, static_cast<uint64_t>(count_), starts_.address().value, (made.address() + offset_bytes).value,
       made.address().value, static_cast<uint64_t>(piece_rows), static_cast<uint64_t>(piece_stride)});
  // The last piece's offsets may be few.
  const int64_t used = ((pieces() - 1) * piece_stride + (count_ - (pieces() - 1) * piece_rows) + 1) * 4;
  heap_ = (used + 255) / 256 * 256;
  memory_ = std::make_shared<PinnedBuffer>(
      device_.allocate_pinned(heap_ + std::max<int64_t>(heap_bytes, 1), "strings of the result"));
  queue_.copy_to_host(memory_->data(), made.address(), used);
  if (heap_bytes > 0) queue_.copy_to_host(memory_->data() + heap_, made.address() + offset_bytes, heap_bytes);
  queue_.synchronize();
}

void TextFetch::show(int64_t piece, ColumnView& view) const {
  view.encoding = Encoding::Heap;
  view.offsets = reinterpret_cast<const uint32_t*>(memory_->data()) + piece * piece_stride;
  view.heap = reinterpret_cast<const char*>(memory_->data() + heap_) + piece_starts_[static_cast<size_t>(piece)];
}

}  // namespace diptych::gpu
