#include "engine/gpu/groups/group_row.h"

namespace diptych::gpu {

size_t value_row_words(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::Bool:
    case PhysicalType::Int32:
    case PhysicalType::Float32:
    case PhysicalType::Text: return 1;  // a code of a dictionary
    case PhysicalType::Int64:
    case PhysicalType::Float64: return 2;
    default: return 4;
  }
}

size_t key_row_words(PhysicalType physical) {
  return value_row_words(physical == PhysicalType::Float32 ? PhysicalType::Float64 : physical);
}

}  // namespace diptych::gpu
