// A piece of a row set in the memory of a device: columns of rows, most of them in one buffer.
//
//   buffer    |validity 0|validity 2|values 0|values 2|...     bits and values of a fixed width
//   strings   |offsets|bytes|                                  a buffer a column, as Encoding::Heap has them
//
// Strings come from kernels as where they are (kernel/device/text_row.h), and get memory of their own once all rows are
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/device/device.h"

namespace diptych::gpu {

struct DevicePiece {
  struct Column {
    int width = 0;
    int64_t values = 0, validity = -1;  // offsets in the buffer; -1: no row is NULL
    bool is_string = false;             // values: an offset in string_rows
    DeviceBuffer strings;               // |offsets|bytes|
    int64_t heap = 0, heap_bytes = 0;   // of the bytes: offset in strings
  };
  DeviceBuffer buffer;
  DeviceBuffer string_rows;  // until strings have memory of their own
  std::vector<Column> columns;
  int64_t capacity = 0, rows = 0;
};

}  // namespace diptych::gpu
