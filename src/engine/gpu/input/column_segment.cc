#include "engine/gpu/input/column_segment.h"

#include <cstring>
#include <span>
#include <utility>

#include "base/error.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

static_assert(device_alignment >= 16 * 16, "kernels load up to 16 elements of 16 bytes, past the last one too");

}  // namespace

SegmentTablet stored_form(const ColumnView& view, int64_t rows) {
  SegmentTablet tablet;
  tablet.encoding = view.encoding;
  tablet.physical = view.physical;
  tablet.width = view.encoding == Encoding::Heap    ? 4
                 : view.encoding == Encoding::Plain ? width_bytes(view.physical)
                                                    : view.width;
  tablet.base = view.base;
  tablet.factor = view.factor;
  tablet.dictionary = view.dictionary;
  tablet.rows = rows;
  tablet.has_nulls = view.validity != nullptr;
  return tablet;
}

SegmentTablet SegmentLoader::place_column(const ColumnView& view, int64_t rows) {
  SegmentTablet tablet = stored_form(view, rows);
  const auto add = [&](const void* from, int64_t bytes) {
    parts_.push_back({segment_->bytes_, from, bytes});
    return std::exchange(segment_->bytes_, segment_->bytes_ + padded(bytes));
  };
  switch (view.encoding) {
    case Encoding::Heap:
      tablet.data = add(view.offsets, (rows + 1) * 4);
      tablet.heap = add(view.heap, view.offsets[rows]);
      break;
    case Encoding::Plain: tablet.data = add(view.data, rows * tablet.width); break;
    default:
      if (view.width > 0) tablet.data = add(view.data, rows * view.width);
  }
  if (view.validity != nullptr) tablet.validity = add(view.validity, (rows + 7) / 8);
  return tablet;
}

SegmentLoader::SegmentLoader(const TabletSource& source, size_t first, size_t count, size_t column)
    : segment_(std::make_shared<ColumnSegment>()) {
  for (size_t tablet = first; tablet < first + count; ++tablet) {
    pins_.push_back(source.pin(tablet, std::span(&column, 1)));
    segment_->starts_.push_back(segment_->bytes_);
    segment_->tablets_.push_back(place_column(pins_.back()->views[0], pins_.back()->rows));
  }
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load(DeviceBuffer to, Queue& queue) {
  segment_->place_ = ColumnSegment::Place::Device;
  segment_->device_ = std::move(to);
  const WhenDone when_done{queue};
  // Kernels load what is behind a column's end, too. All at once: a fill for every gap takes longer.
  queue.fill(segment_->device_.address(), 0, segment_->device_.bytes());
  for (const Part& part : parts_) {
    if (part.bytes > 0) queue.copy_to_device(segment_->device_.address() + part.offset, part.from, part.bytes);
  }
  queue.synchronize();
  return segment_;
}

std::shared_ptr<const ColumnSegment> SegmentLoader::load(PinnedBuffer to) {
  segment_->place_ = ColumnSegment::Place::Pinned;
  segment_->pinned_ = std::move(to);
  for (const Part& part : parts_) {
    std::byte* at = segment_->pinned_.data() + part.offset;
    if (part.bytes > 0) std::memcpy(at, part.from, static_cast<size_t>(part.bytes));
    std::memset(at + part.bytes, 0, static_cast<size_t>(padded(part.bytes) - part.bytes));
  }
  return segment_;
}

}  // namespace diptych::gpu
