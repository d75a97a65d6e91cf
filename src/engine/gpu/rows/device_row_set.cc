#include "engine/gpu/rows/device_row_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace diptych::gpu {
namespace {

// Its columns are in copies that the row set keeps.
class CopiedTablet final : public PinnedTablet {};

}  // namespace

DeviceRowSet::DeviceRowSet(GpuEngine& engine, std::vector<ColumnDefinition> columns, std::vector<ColumnView> forms,
                           MemoryBudget* budget)
    : engine_(engine),
      columns_(std::move(columns)),
      forms_(std::move(forms)),
      host_bytes_(budget, "rows of a device") {}

void DeviceRowSet::add(DevicePiece piece) {
  rows_ += piece.rows;
  pieces_.push_back(std::move(piece));
}

void DeviceRowSet::move_to_host() const {
  std::vector<size_t> all(columns_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  bring(all, nullptr);
  for (DevicePiece& piece : pieces_) {
    piece.buffer = DeviceBuffer();
    for (DevicePiece::Column& column : piece.columns) column.strings = DeviceBuffer();
  }
  is_on_device_ = false;
}

int64_t DeviceRowSet::encoded_bytes(size_t tablet, size_t column) const {
  const int64_t rows = pieces_[tablet].rows;
  if (forms_[column].encoding == Encoding::Heap) return rows * 4 + pieces_[tablet].columns[column].heap_bytes;
  return rows * forms_[column].width;
}

SegmentTablet DeviceRowSet::form(size_t piece, size_t column) const {
  SegmentTablet tablet = gpu::stored_form(forms_[column], pieces_[piece].rows);
  tablet.has_nulls = pieces_[piece].columns[column].validity >= 0;
  return tablet;
}

std::shared_ptr<const ColumnSegment> DeviceRowSet::segment(size_t piece, size_t column) const {
  const DevicePiece& from = pieces_[piece];
  const DevicePiece::Column& stored = from.columns[column];
  SegmentTablet tablet = form(piece, column);
  if (stored.is_string) {
    // In several buffers: addresses are offsets from the start of all memory.
    const auto offset = [](DeviceAddress address) { return static_cast<int64_t>(address.value); };
    tablet.data = offset(stored.strings.address());
    tablet.heap = tablet.data + stored.heap;
    if (stored.validity >= 0) tablet.validity = offset(from.buffer.address() + stored.validity);
    return std::make_shared<const ColumnSegment>(tablet, DeviceAddress{});
  }
  tablet.data = stored.values;
  tablet.validity = stored.validity;
  return std::make_shared<const ColumnSegment>(tablet, from.buffer.address());
}

// Copies what is not there yet.
void DeviceRowSet::fetch(size_t first, size_t end, std::span<const size_t> wanted, WorkReport* report) const {
  Device& device = engine_.device();
  std::map<std::pair<size_t, size_t>, HostColumn> fetched;
  const auto stored = [&](size_t piece, size_t column) -> const DevicePiece::Column& {
    return pieces_[piece].columns[column];
  };
  for (size_t piece = first; piece < end; ++piece) {
    for (const size_t column : wanted) {
      if (copies_.contains({piece, column})) continue;
      HostColumn& copy = fetched[{piece, column}];
      const DevicePiece::Column& from = stored(piece, column);
      const int64_t rows = pieces_[piece].rows, bitmap = from.validity >= 0 ? (rows + 7) / 8 : 0;
      copy.bytes = from.is_string ? from.heap + from.heap_bytes : rows * from.width;
      reserve_on_host(host_bytes_, copy.bytes + bitmap);
      copy.values = device.allocate_pinned(std::max<int64_t>(copy.bytes, 1), "rows of a device");
      if (bitmap > 0) copy.validity = device.allocate_pinned(bitmap, "rows of a device");
    }
  }
  if (fetched.empty()) return;
  std::unique_ptr<Queue> queue = engine_.take_queue(report);
  for (auto& [place, copy] : fetched) {
    const DevicePiece& piece = pieces_[place.first];
    const DevicePiece::Column& from = stored(place.first, place.second);
    const DeviceAddress start = piece.buffer.address();
    queue->copy_to_host(copy.values.data(), from.is_string ? from.strings.address() : start + from.values, copy.bytes);
    if (copy.validity.bytes() > 0)
      queue->copy_to_host(copy.validity.data(), start + from.validity, (piece.rows + 7) / 8);
  }
  queue->synchronize();
  engine_.give_back(std::move(queue));
  copies_.merge(fetched);
}

void DeviceRowSet::bring(std::span<const size_t> wanted, WorkReport* report) const {
  std::lock_guard guard(mutex_);
  fetch(0, pieces_.size(), wanted, report);
}

std::unique_ptr<PinnedTablet> DeviceRowSet::pin(size_t tablet, std::span<const size_t> wanted) const {
  auto pinned = std::make_unique<CopiedTablet>();
  pinned->rows = pieces_[tablet].rows;
  for (size_t before = 0; before < tablet; ++before) pinned->first_position += pieces_[before].rows;
  std::lock_guard guard(mutex_);
  fetch(tablet, tablet + 1, wanted, nullptr);
  for (const size_t column : wanted) {
    const HostColumn& copy = copies_.at({tablet, column});
    ColumnView& view = pinned->views.emplace_back(forms_[column]);
    view.data = copy.values.data();
    if (view.encoding == Encoding::Heap) {
      view.offsets = reinterpret_cast<const uint32_t*>(view.data);
      view.heap = reinterpret_cast<const char*>(view.data) + pieces_[tablet].columns[column].heap;
    }
    if (copy.validity.bytes() > 0) view.validity = reinterpret_cast<const uint8_t*>(copy.validity.data());
  }
  return pinned;
}

}  // namespace diptych::gpu
