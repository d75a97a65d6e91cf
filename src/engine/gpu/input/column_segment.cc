#include "engine/gpu/input/column_segment.h"

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

}  // namespace diptych::gpu
