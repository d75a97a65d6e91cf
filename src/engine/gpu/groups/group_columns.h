// Groups as columns in device memory: keys, then aggregates. Strings come from kernels as where they are
// (kernel/device/text_row.h), and get memory of their own once all groups are there (group_strings.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/device/device.h"
#include "engine/gpu/generator/group_plan.h"
#include "program/program.h"

namespace diptych::gpu {

struct GroupColumns {
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

// Room for so many groups, all of which are valid at first. Errors: 53200.
GroupColumns allocate_group_columns(Device& device, Queue& queue, const GroupPlan& plan, const HashTableInfo& table,
                                    int64_t capacity);
// Bytes of a row.
int64_t group_column_bytes(const GroupPlan& plan, const HashTableInfo& table);

}  // namespace diptych::gpu
