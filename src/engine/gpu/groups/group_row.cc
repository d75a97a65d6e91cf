#include "engine/gpu/groups/group_row.h"

namespace diptych::gpu {

size_t value_row_words(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool:
    case PhysicalType::Int32:
    case PhysicalType::Float32: return 1;
    case PhysicalType::Int64:
    case PhysicalType::Float64: return 2;
    case PhysicalType::Text: return 3;      // address, length
    case PhysicalType::Interval: return 6;  // itself, the number of the row
    default: return 4;
  }
}

size_t key_row_words(PhysicalType physical) {
  if (physical == PhysicalType::Text) return 1;  // a code of a dictionary
  return value_row_words(physical == PhysicalType::Float32 ? PhysicalType::Float64 : physical);
}

}  // namespace diptych::gpu
