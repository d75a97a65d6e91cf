// The kernels behind the section's for a hash table whose groups are partitioned. Their texts depend on the forms of
// keys and aggregates only.
//
//   group    a work-group takes a slice of a partition at a time and groups it in shared memory. Where that is all of
//            the partition, its groups are done; if shared memory has no room for them, the work-group begins anew and
//            takes a part of them at a time, by further bits of the hash. Groups of other slices go on as states
//   merge    puts states into one table in global memory
//   show     makes the results of the groups of that table
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/gpu/generator/group_plan.h"
#include "engine/gpu/section_kernel.h"

namespace diptych::gpu {

// The words of all three kernels' parameters. Behind them are two a column of the result, keys first: addresses of the
// values, and of bits that are 1 at first and cleared where there is none.
enum class GroupWord : uint8_t {
  Control,        // address of GroupControl
  Rows,           // of group_rows.h, with the two words that follow
  Starts,         //
  Counts,         // of a partition in Starts
  FirstSlices,    //
  PartitionBits,  //
  SliceRows,      //
  IsComplete,     // 1: all rows of all groups are there
  Capacity,       // groups that the result has room for
  States,         // address of rows of states: key words, then states
  StateCapacity,  // rows that there is room for
  Slots,          // of the table in global memory, with the words that follow
  SlotBits,       //
  SlotShift,      // upper bits of a hash that do not choose its first slot
  Keys,           //
  TableStates,    //
  StateRows,      // rows of states to be merged
  Pass,           // of these, rows whose hashes begin with these bits ...
  PassBits,       // ... so many; 0: all
  SharedSlots,    // of a table in shared memory
  Count
};

// What kernels count, all 0 at first.
struct GroupControl {
  uint64_t slices_taken = 0;
  uint64_t groups = 0;      // in the result
  uint64_t state_rows = 0;  // groups that have gone on as states
  uint64_t failure = 0;     // dk_error, and the number of the aggregate + 1 in the upper half
  uint64_t table_groups = 0;
  uint64_t is_full = 0;  // the table in global memory had no room for a group
};

struct GroupKernels {
  KernelText group, merge, show;
  int group_items = group_size;  // of a work-group of `group`; the others have group_size
  size_t slot_bytes = 0;         // of the table in shared memory
  size_t state_row = 0;          // words of 64 bits
  size_t parameters = 0;
};

// Of shared memory, for a table where kernels can't ask for more: beside it is the scratch, which OpenCL has a place
// for each work-item in.
inline constexpr int64_t usual_table_bytes = 38 * 1024;

// group_items: work-items of a work-group that groups a slice.
std::shared_ptr<const GroupKernels> make_group_kernels(const GroupPlan& plan, const HashTableInfo& table,
                                                       int group_items);

// Whether a column of the result can be NULL.
bool is_nullable_result(const GroupPlan& plan, size_t column);
// Whether it is of strings that are no codes: the kernels write where they are (kernel/device/text_row.h).
bool is_string_result(const GroupPlan& plan, const HashTableInfo& table, size_t column);
// Bytes of a value of a column of the result, as the kernels write it.
int result_width(const GroupPlan& plan, const HashTableInfo& table, size_t column);

}  // namespace diptych::gpu
