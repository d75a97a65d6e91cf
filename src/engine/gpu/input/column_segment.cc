#include "engine/gpu/input/column_segment.h"

#include <cstring>
#include <span>

#include "base/error.h"
#include "engine/gpu/when_done.h"

namespace diptych::gpu {
namespace {

static_assert(device_alignment >= 16 * 16, "kernels load up to 16 elements of 16 bytes, past the last one too");

struct Part {
  int64_t offset;
  const void* from;
  int64_t bytes;
};

// Where a tablet's column goes in the segment, and from where.
SegmentTablet place_column(const ColumnView& view, int64_t rows, int64_t& end, std::vector<Part>& parts) {
  SegmentTablet tablet = stored_form(view, rows);
  const auto add = [&](const void* from, int64_t bytes) {
    const int64_t offset = end;
    parts.push_back({offset, from, bytes});
    end += padded(bytes);
    return offset;
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

std::shared_ptr<const ColumnSegment> SegmentLoader::load(const TabletSource& source, size_t first, size_t count,
                                                         size_t column, ColumnSegment::Place place) {
  auto segment = std::make_shared<ColumnSegment>();
  segment->place_ = place;
  std::vector<std::unique_ptr<PinnedTablet>> pins;
  std::vector<Part> parts;
  for (size_t tablet = first; tablet < first + count; ++tablet) {
    pins.push_back(source.pin(tablet, std::span(&column, 1)));
    segment->starts_.push_back(segment->bytes_);
    segment->tablets_.push_back(place_column(pins.back()->views[0], pins.back()->rows, segment->bytes_, parts));
  }
  const int64_t bytes = std::max(segment->bytes_, device_alignment);
  if (place == ColumnSegment::Place::Pinned) {
    segment->pinned_ = device_.allocate_pinned(bytes, "columns in pinned memory");
    for (const Part& part : parts) {
      std::byte* to = segment->pinned_.data() + part.offset;
      if (part.bytes > 0) std::memcpy(to, part.from, static_cast<size_t>(part.bytes));
      std::memset(to + part.bytes, 0, static_cast<size_t>(padded(part.bytes) - part.bytes));
    }
    return segment;
  }
  segment->device_ = device_.allocate(bytes, "columns on the device");
  const WhenDone when_done{queue_};
  // Kernels load what is behind a column's end, too. All at once: a fill for every gap takes longer.
  queue_.fill(segment->device_.address(), 0, bytes);
  for (const Part& part : parts) {
    if (part.bytes > 0) queue_.copy_to_device(segment->device_.address() + part.offset, part.from, part.bytes);
  }
  queue_.synchronize();
  return segment;
}

}  // namespace diptych::gpu
