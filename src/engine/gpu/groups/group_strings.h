// Memory of their own for the strings that groups point to: those of the columns of a batch, or of what a kernel made,
// are gone before the groups are.
//
//   column of a result   |address, length| ...   ->   |offsets|bytes|                 as Encoding::Heap has them
//   rows of states       | .. address .. | ...   ->   addresses in |bytes|
#pragma once

#include <string>
#include <vector>

#include "engine/gpu/gpu_engine.h"
#include "engine/gpu/groups/group_columns.h"

namespace diptych::gpu {

// Rows of so many words in memory of the device.
struct StringStates {
  DeviceAddress address;
  int64_t count = 0;
  size_t words = 0;
};

// Where such a row has a string: the word of its address, that of its length in the lower half, and how much more than
// the length that is; 0 is no string.
struct StringPlace {
  uint64_t address = 0, length = 0, more = 0;
};
// Of the state of a least or greatest string, from its first word on (kernel/device/group_extremes.h).
inline StringPlace string_of_extreme(size_t first_word) { return {first_word + 1, first_word + 2, 1}; }

// Of the rows of the result. Waits for the queue. Errors: 53200, also when the strings of a column are more than
// offsets can tell; 58000.
void own_strings(GpuEngine& engine, Queue& queue, DevicePiece& result);

// Of so many rows of states of groups: returns the memory that they point to from now on. Waits for the queue.
// Errors: as above.
std::vector<DeviceBuffer> own_strings(GpuEngine& engine, Queue& queue, const GroupPlan& plan,
                                      const HashTableInfo& table, DeviceAddress states, int64_t count);

// The strings of one or more rows, on the host. Waits for the queue. Errors: as above.
std::vector<std::string> fetch_strings(GpuEngine& engine, Queue& queue, const StringStates& states,
                                       const StringPlace& place);

}  // namespace diptych::gpu
