// Memory of their own for the strings of rows that kernels give as where they are (kernel/device/text_row.h).
#pragma once

#include "engine/device/device.h"

namespace diptych::gpu {

// As Encoding::Heap has them, in one piece.
struct CopiedStrings {
  DeviceBuffer starts;               // of each in the bytes
  DeviceBuffer strings;              // |offsets|bytes|
  int64_t heap = 0, heap_bytes = 0;  // of the bytes: offset in strings
};

// Of `count` text rows, one or more. Waits for the queue, and leaves work in it that uses the rows and what is
// returned. Errors: 53200, also when the strings are more than offsets can tell; 58000.
CopiedStrings copy_strings(Device& device, Queue& queue, DeviceAddress rows, int64_t count);

}  // namespace diptych::gpu
