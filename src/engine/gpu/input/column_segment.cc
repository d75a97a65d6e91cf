#include "engine/gpu/input/column_segment.h"

#include <algorithm>

namespace diptych::gpu {

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

bool ColumnSegment::may_be_under_way() const {
  return std::ranges::any_of(memories_, [](const auto& memory) {
    return memory != nullptr && memory->arrival && !memory->arrival->is_over();
  });
}

void ColumnSegment::wait_in(Queue& queue) const {
  for (const auto& memory : memories_)
    if (memory != nullptr && memory->arrival) memory->arrival->wait_in(queue);
}

}  // namespace diptych::gpu
