#include "tablet/encoded_tablet.h"

namespace diptych {

ColumnView EncodedColumn::view() const {
  ColumnView view;
  view.encoding = encoding;
  view.physical = physical;
  view.width = width;
  view.base = base;
  view.factor = factor;
  view.data = data.data();
  view.validity = validity.empty() ? nullptr : validity.as<uint8_t>();
  view.offsets = offsets.as<uint32_t>();
  view.heap = heap.as<char>();
  view.dictionary = dictionary;
  return view;
}

int64_t EncodedColumn::bytes() const {
  return static_cast<int64_t>(data.size() + validity.size() + offsets.size() + heap.size());
}

int64_t EncodedTablet::bytes() const {
  int64_t total = 0;
  for (const EncodedColumn& column : columns) total += column.bytes();
  return total;
}

}  // namespace diptych
